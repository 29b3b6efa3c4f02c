#include "compiler.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <sstream>
#include <stdexcept>

#include "process.h"
#include "tokens.h"
#include "translate.h"

namespace softmetal {
namespace {

using Words = std::vector<std::string>;

std::string compiler() {
  return environment("SOFTMETAL_CXX", SOFTMETAL_DEFAULT_CXX);
}

// What MSL means: C++14, float arithmetic as written, and nothing that clang would add to the
// language.
const char *const language_flags =
    "-x c++ -std=c++14 -fno-exceptions -fno-rtti -fno-threadsafe-statics -ffp-contract=off "
    "-Xclang -ffloat16-excess-precision=none -Werror=c++17-extensions -Werror=c++20-extensions "
    "-Werror=c++2b-extensions -Werror=vla-cxx-extension -Werror=double-promotion "
    "-Werror=implicit-float-conversion -Werror=return-type -Werror=uninitialized "
    "-Werror=gnu-designator -Wno-unknown-pragmas -Wno-unused-function -isystem " SOFTMETAL_PRELUDE
    " -include metal_stdlib";

Words split(const std::string &text) {
  std::istringstream stream(text);
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// The best that this processor has of what every recent one has: fma and half conversions are calls
// without it.
std::string machine_flags() {
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("f16c");
  return v3 ? "-march=x86-64-v3" : "-march=x86-64";
}

std::string flags_for(const Source &source) {
  return std::string(language_flags) +
         " -O1 -g1 -fPIC -shared -nostdlib++ -fuse-ld=lld "
         "-fvisibility=hidden -fno-omit-frame-pointer " +
         machine_flags() + (source.fast_math ? " -ffast-math " : " ") +
         environment("SOFTMETAL_CXXFLAGS", "");
}

// 128 bits of FNV-1a, in two runs.
std::string digest(const std::string &text) {
  uint64_t a = 0xcbf29ce484222325u, b = 0x84222325cbf29ce4u;
  for (const unsigned char c : text) {
    a = (a ^ c) * 0x100000001b3u;
    b = (b ^ (c + 1)) * 0x100000001b3u;
  }
  char hex[33];
  snprintf(hex, sizeof hex, "%016llx%016llx", static_cast<unsigned long long>(a),
           static_cast<unsigned long long>(b));
  return hex;
}

std::string seeded(std::string text) {
  const std::string rule = environment("SOFTMETAL_REPLACE", "");
  const size_t arrow = rule.find("=>");
  if (arrow == std::string::npos) return text;
  const std::string from = rule.substr(0, arrow), to = rule.substr(arrow + 2);
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// Includes of Metal's own headers go, and hints about loops, whose arguments may be macros.
std::string prepared(const std::string &text) {
  std::istringstream lines(seeded(text));
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    const std::string word = line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
    if (word.compare(0, 8, "#include") == 0) {
      const bool own = word.find("<metal_") != std::string::npos;
      line = own ? "" : "#error only Metal's own headers can be included";
    } else if (word.compare(0, 14, "#pragma unroll") == 0) {
      line = "";
    }
    out += line + "\n";
  }
  return out;
}

void succeed(const Words &command, const std::string &stem) {
  if (!run(command, stem + ".log")) throw CompileError{read_file(stem + ".log")};
}

// The translated text in stem.cpp.
void translate_to(const Source &source, const std::string &stem) {
  write_file(stem + ".metal", prepared(source.text));
  Words command = split(compiler() +
                        " -x c++ -std=c++14 -E -undef -nostdinc "
                        "-D__METAL__=1 -D__METAL_VERSION__=310");
  for (const std::string &macro : source.macros) command.push_back("-D" + macro);
  command.insert(command.end(), {stem + ".metal", "-o", stem + ".ii"});
  succeed(command, stem);
  try {
    write_file(stem + ".cpp", translate(read_file(stem + ".ii")));
  } catch (const SourceError &error) {
    throw CompileError{error.message};
  }
}

// Pointers keep to their address spaces, which are real for this one pass.
void check_address_spaces(const std::string &stem) {
  Words command = split(compiler() + " " + language_flags + " -DSM_CHECK -fsyntax-only");
  command.push_back(stem + ".cpp");
  succeed(command, stem);
}

// A stem in the cache that no other process or thread writes to.
std::string scratch_stem(const std::string &stem) {
  static std::atomic<unsigned> count{0};
  return stem + "." + std::to_string(getpid()) + "." + std::to_string(count++);
}

std::string cache() {
  return private_folder(
      environment("SOFTMETAL_CACHE",
                  environment("TMPDIR", "/tmp") + "/softmetal-" + std::to_string(geteuid())));
}

// The texts that go into every kernel, read once.
const std::string &prelude() {
  static const std::string text =
      read_file(SOFTMETAL_PRELUDE "/metal_stdlib") + read_file(SOFTMETAL_PRELUDE "/kernel_abi.h");
  return text;
}

void move_all(const std::string &from, const std::string &to) {
  for (const char *suffix : {".metal", ".cpp", ".so"}) {
    rename((from + suffix).c_str(), (to + suffix).c_str());
  }
  for (const char *suffix : {".ii", ".log"}) unlink((from + suffix).c_str());
}

}  // namespace

std::string compile(const Source &source) {
  Source sorted = source;
  std::sort(sorted.macros.begin(), sorted.macros.end());
  const std::string flags = flags_for(source);
  std::string key = compiler() + flags + SOFTMETAL_VERSION + prelude() + seeded(source.text);
  for (const std::string &macro : sorted.macros) key += "\n" + macro;
  const std::string stem = cache() + "/" + digest(key);
  if (access((stem + ".so").c_str(), R_OK) == 0) return stem + ".so";

  const std::string scratch = scratch_stem(stem);
  translate_to(sorted, scratch);
  check_address_spaces(scratch);
  Words command = split(compiler() + " " + flags);
  command.insert(command.end(), {scratch + ".cpp", "-o", scratch + ".so"});
  succeed(command, scratch);
  move_all(scratch, stem);
  return stem + ".so";
}

}  // namespace softmetal
