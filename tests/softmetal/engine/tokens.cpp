#include "tokens.h"

#include <cctype>
#include <cstdlib>
#include <cstring>

namespace softmetal {
namespace {

bool name_start(char c) {
  return isalpha(static_cast<unsigned char>(c)) || c == '_';
}
bool name_part(char c) {
  return isalnum(static_cast<unsigned char>(c)) || c == '_';
}
bool digit(char c) {
  return isdigit(static_cast<unsigned char>(c));
}

size_t end_of_number(const std::string &s, size_t i) {
  const bool hex = s[i] == '0' && i + 1 < s.size() && (s[i + 1] | 32) == 'x';
  const char *exponent = hex ? "pP" : "eE";
  for (; i < s.size(); ++i) {
    const bool sign = (s[i] == '-' || s[i] == '+') && strchr(exponent, s[i - 1]);
    if (!name_part(s[i]) && s[i] != '.' && !sign) break;
  }
  return i;
}

size_t end_of_quoted(const std::string &s, size_t i) {
  const char quote = s[i++];
  while (i < s.size() && s[i] != quote) i += s[i] == '\\' ? 2 : 1;
  return i + 1;
}

// Not ">>", which may close two templates.
bool is_pair(char a, char b) {
  if (b == '=') return strchr("<>=!+-*/%&|^", a) != nullptr;
  return (a == b && strchr(":<&|", a)) || (a == '-' && b == '>');
}

size_t end_of_token(const std::string &s, size_t i) {
  if (name_start(s[i])) {
    while (i < s.size() && name_part(s[i])) ++i;
    return i;
  }
  if (digit(s[i]) || (s[i] == '.' && i + 1 < s.size() && digit(s[i + 1])))
    return end_of_number(s, i);
  if (s[i] == '"' || s[i] == '\'') return end_of_quoted(s, i);
  return i + (is_pair(s[i], i + 1 < s.size() ? s[i + 1] : ' ') ? 2 : 1);
}

}  // namespace

bool is_name(const std::string &token) {
  return !token.empty() && name_start(token[0]);
}

bool is_unsuffixed_real(const std::string &token) {
  if (token.empty() || !(digit(token[0]) || (token[0] == '.' && token.size() > 1))) return false;
  const bool hex = token.size() > 1 && (token[1] | 32) == 'x';
  const bool real = token.find_first_of(hex ? "pP" : ".eE") != std::string::npos;
  return real && (digit(token.back()) || token.back() == '.');
}

Tokens::Tokens(const std::string &source) : source_(source) {
  split();
  place();
}

// A line marker of the preprocessor is: # line "file".
void Tokens::split() {
  std::string file = "source";
  int line = 1;
  bool fresh = true;  // nothing on this line yet
  for (size_t i = 0; i < source_.size();) {
    const char c = source_[i];
    if (c == '\n') {
      ++line;
      ++i;
      fresh = true;
    } else if (isspace(static_cast<unsigned char>(c))) {
      ++i;
    } else if (c == '#' && fresh) {
      const size_t end = std::min(source_.find('\n', i), source_.size());
      const std::string marker = source_.substr(i, end - i);
      const size_t quote = marker.find('"');
      if (marker.size() > 2 && digit(marker[2]) && quote != std::string::npos) {
        line = atoi(marker.c_str() + 2) - 1;
        file = marker.substr(quote + 1, marker.find('"', quote + 1) - quote - 1);
      }
      i = end;
    } else {
      const size_t end = std::min(end_of_token(source_, i), source_.size());
      tokens_.push_back({source_.substr(i, end - i), i, end, file, line});
      i = end;
      fresh = false;
    }
  }
}

void Tokens::place() {
  std::vector<bool> scopes;  // true = a namespace
  size_t statement = 0, inner = 0, parentheses = 0;
  for (size_t i = 0; i < tokens_.size(); ++i) {
    Token &token = tokens_[i];
    token.statement = statement;
    token.outer = inner == 0;
    token.nested = parentheses > 0;
    if (token.text == "(") ++parentheses;
    if (token.text == ")" && parentheses > 0) --parentheses;
    if (token.text == "{") {
      scopes.push_back(at(statement) == "namespace");
      inner += scopes.back() ? 0 : 1;
      statement = i + 1;
    } else if (token.text == "}") {
      if (!scopes.empty()) {
        inner -= scopes.back() ? 0 : 1;
        scopes.pop_back();
      }
      statement = i + 1;
    } else if (token.text == ";" && parentheses == 0) {
      statement = i + 1;
    }
  }
}

const std::string &Tokens::at(size_t i) const {
  static const std::string none;
  return i < tokens_.size() ? tokens_[i].text : none;
}

std::string Tokens::text(size_t a, size_t b) const {
  return a < b ? source_.substr(tokens_[a].begin, tokens_[b - 1].end - tokens_[a].begin) : "";
}

size_t Tokens::match(size_t i) const {
  const std::string open = at(i);
  const std::string close = open == "(" ? ")" : open == "[" ? "]" : open == "<" ? ">" : "}";
  size_t depth = 0;
  for (size_t j = i; j < tokens_.size(); ++j) {
    if (at(j) == open) ++depth;
    if (at(j) == close && --depth == 0) return j;
  }
  fail(i, "unclosed " + open);
}

void Tokens::fail(size_t i, const std::string &what) const {
  if (tokens_.empty()) throw SourceError{"no source: " + what};
  const Token &token = tokens_[i < tokens_.size() ? i : tokens_.size() - 1];
  throw SourceError{token.file + ":" + std::to_string(token.line) + ": " + what};
}

}  // namespace softmetal
