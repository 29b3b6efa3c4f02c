// Tokens of preprocessed Metal source, and where each one stands.
#pragma once
#include <string>
#include <vector>

namespace softmetal {

struct Token {
  std::string text;
  size_t begin;
  size_t end;
  std::string file;
  int line;
  size_t statement = 0;  // first token of the declaration or statement that it is in
  bool outer = true;     // at namespace scope
  bool nested = false;   // inside parentheses
};

// Thrown as "file:line: what".
struct SourceError {
  std::string message;
};

class Tokens {
 public:
  explicit Tokens(const std::string &source);

  size_t size() const { return tokens_.size(); }
  const Token &operator[](size_t i) const { return tokens_[i]; }
  // The text of token i, empty past the end.
  const std::string &at(size_t i) const;
  // The source from token a up to token b, exclusive.
  std::string text(size_t a, size_t b) const;
  // The token that closes the bracket opened at i.
  size_t match(size_t i) const;
  [[noreturn]] void fail(size_t i, const std::string &what) const;

 private:
  void split();
  void place();

  std::string source_;
  std::vector<Token> tokens_;
};

bool is_name(const std::string &token);
// A floating literal that has no suffix: float in Metal, double elsewhere.
bool is_unsuffixed_real(const std::string &token);

}  // namespace softmetal
