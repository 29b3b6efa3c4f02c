#include "rules.h"

namespace softmetal {
namespace {

const char *const missing_space = "a pointer or reference without an address space: ";

bool is_space(const std::string &s) {
  return s == "device" || s == "constant" || s == "threadgroup" || s == "thread";
}
bool is_indirection(const std::string &s) {
  return s == "*" || s == "&";
}
bool opens(const std::string &s) {
  return s == "(" || s == "[" || s == "<";
}
bool closes(const std::string &s) {
  return s == ")" || s == "]" || s == ">";
}

// Tokens a up to b are one parameter.
void check_parameter(const Tokens &t, size_t a, size_t b) {
  bool indirect = false, named = false;
  for (size_t i = a, depth = 0; i < b && t.at(i) != "="; ++i) {
    if (opens(t.at(i))) ++depth;
    if (closes(t.at(i))) --depth;
    indirect |= depth == 0 && is_indirection(t.at(i));
    named |= is_space(t.at(i));
  }
  if (indirect && !named) t.fail(a, missing_space + t.text(a, b));
}

void check_parameters(const Tokens &t, size_t open) {
  const size_t close = t.match(open);
  size_t begin = open + 1;
  for (size_t i = begin, depth = 0; i <= close; ++i) {
    if (i == close || (t.at(i) == "," && depth == 0)) {
      check_parameter(t, begin, i);
      begin = i + 1;
    } else if (opens(t.at(i))) {
      ++depth;
    } else if (closes(t.at(i))) {
      --depth;
    }
  }
}

// Statement `begin` may declare a pointer: TYPE * NAME, where TYPE names no space.
void check_local(const Tokens &t, size_t begin) {
  size_t i = begin;
  while (t.at(i) == "const" || t.at(i) == "constexpr" || t.at(i) == "static") ++i;
  if (!is_name(t.at(i)) || is_space(t.at(i)) || t.at(i) == "return") return;
  ++i;
  while (t.at(i) == "::") i += 2;
  if (t.at(i) == "<") i = t.match(i) + 1;
  const size_t stars = i;
  while (is_indirection(t.at(i))) ++i;
  if (i == stars) return;
  while (t.at(i) == "const") ++i;
  const std::string &after = t.at(i + 1);
  if (is_name(t.at(i)) && (after == "=" || after == ";" || after == ",")) {
    t.fail(begin, missing_space + t.text(begin, i + 1));
  }
}

bool begins_parameters(const Tokens &t, size_t i) {
  if (t.at(i) != "(" || !t[i].outer || t[i].nested || i == 0) return false;
  const std::string &before = t.at(i - 1);
  if (!(is_name(before) || before == ">") || before == "static_assert") return false;
  for (size_t j = t[i].statement; j < i; ++j) {
    if (t.at(j) == "=") return false;  // a call in an initialiser
  }
  return true;
}

}  // namespace

void check_literals(const Tokens &tokens) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (is_unsuffixed_real(tokens.at(i))) {
      tokens.fail(i, "a literal without the suffix f: " + tokens.at(i));
    }
  }
}

void check_address_spaces(const Tokens &tokens) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (begins_parameters(tokens, i)) check_parameters(tokens, i);
    if (tokens[i].statement == i && !tokens[i].outer) check_local(tokens, i);
  }
}

}  // namespace softmetal
