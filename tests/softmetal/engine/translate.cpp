#include "translate.h"

#include <vector>

#include "rules.h"
#include "tokens.h"

namespace softmetal {
namespace {

struct Edit {
  size_t begin;
  size_t end;
  std::string text;
};

struct Attribute {
  std::string name;
  std::string argument;
};

struct Parameter {
  std::string name;
  Attribute meaning;
};

struct Kernel {
  std::string name;
  std::string max_threads = "0";
  std::vector<Parameter> parameters;
};

class Translator {
 public:
  explicit Translator(const std::string &source) : source_(source), t_(source) {}

  std::string run() {
    check_literals(t_);
    for (size_t i = 0; i < t_.size(); ++i) {
      if (attribute_at(i)) {
        edits_.push_back({t_[i].begin, t_[t_.match(i)].end, ""});
        i = t_.match(i);
      } else if (t_.at(i) == "kernel" && t_[i].outer && !t_[i].nested) {
        kernels_.push_back(kernel(i));
      } else if (t_.at(i) == "threadgroup" && !t_[i].outer && t_[i].statement == i) {
        threadgroup_variable(i);
      }
    }
    const std::string body = edited();
    check_address_spaces(Tokens(body));
    return body + entries();
  }

 private:
  bool attribute_at(size_t i) const {
    return t_.at(i) == "[" && t_.at(i + 1) == "[" && t_[i].end == t_[i + 1].begin;
  }

  // The attributes between the brackets opened at i.
  std::vector<Attribute> attributes(size_t i) const {
    std::vector<Attribute> found;
    for (size_t j = i + 2, end = t_.match(i + 1); j < end; ++j) {
      if (t_.at(j) == ",") continue;
      found.push_back({t_.at(j), ""});
      if (t_.at(j + 1) == "(") {
        const size_t close = t_.match(j + 1);
        found.back().argument = t_.text(j + 2, close);
        j = close;
      }
    }
    return found;
  }

  // i is at the word kernel.
  Kernel kernel(size_t i) const {
    Kernel k;
    if (t_.at(t_[i].statement) == "template") t_.fail(i, "a kernel that is a template");
    size_t open = i;
    for (size_t j = t_[i].statement; open == i; ++j) {
      if (j >= t_.size()) t_.fail(i, "kernel: expected a function");
      if (attribute_at(j)) {
        for (const Attribute &a : attributes(j)) kernel_attribute(j, a, &k);
        j = t_.match(j);
      } else if (t_.at(j) == "(") {
        open = j;
      }
    }
    k.name = t_.at(open - 1);
    k.parameters = parameters(open);
    return k;
  }

  void kernel_attribute(size_t i, const Attribute &a, Kernel *k) const {
    if (a.name != "max_total_threads_per_threadgroup") t_.fail(i, "kernel attribute " + a.name);
    k->max_threads = a.argument;
  }

  std::vector<Parameter> parameters(size_t open) const {
    std::vector<Parameter> found;
    Parameter p;
    size_t depth = 0;
    for (size_t i = open + 1, close = t_.match(open); i <= close; ++i) {
      const std::string &s = t_.at(i);
      if (attribute_at(i)) {
        for (const Attribute &a : attributes(i)) p.meaning = parameter_attribute(i, a);
        i = t_.match(i);
      } else if (i == close || (s == "," && depth == 0)) {
        if (p.meaning.name.empty()) t_.fail(i, "kernel parameter " + p.name + " has no attribute");
        found.push_back(p);
        p = Parameter();
      } else {
        if (s == "<" || s == "(") ++depth;
        if (s == ">" || s == ")") --depth;
        if (is_name(s) && depth == 0) p.name = s;
      }
    }
    return found;
  }

  // The positions are those that every device offers.
  Attribute parameter_attribute(size_t i, const Attribute &a) const {
    for (const char *known :
         {"buffer", "threadgroup_position_in_grid", "thread_index_in_threadgroup",
          "thread_index_in_simdgroup", "simdgroup_index_in_threadgroup"}) {
      if (a.name == known) return a;
    }
    t_.fail(i, "parameter attribute " + a.name);
  }

  // threadgroup TYPE NAME[N]; in a body, unless it is a pointer.
  void threadgroup_variable(size_t i) {
    size_t end = i;
    while (end < t_.size() && t_.at(end) != ";" && t_.at(end) != "=" && t_.at(end) != "[") {
      if (t_.at(end) == "*" || t_.at(end) == "&") return;
      if (t_.at(end) == ",") t_.fail(i, "several threadgroup variables in one declaration");
      end = t_.at(end) == "<" ? t_.match(end) + 1 : end + 1;
    }
    const size_t name = end - 1;
    size_t semicolon = end;
    while (t_.at(semicolon) == "[") semicolon = t_.match(semicolon) + 1;
    if (t_.at(semicolon) != ";") t_.fail(i, "a threadgroup variable with an initialiser");
    const std::string number = std::to_string(variables_++), type = "sm_type" + number;
    edits_.push_back({t_[i].begin, t_[semicolon - 1].end,
                      "typedef " + t_.text(i + 1, name) + " " + type + t_.text(end, semicolon) +
                          "; threadgroup " + type + "& " + t_.at(name) +
                          " = sm::threadgroup_variable<" + type + ", " + number + ">()"});
  }

  std::string edited() const {
    std::string out;
    size_t done = 0;
    for (const Edit &e : edits_) {
      out += source_.substr(done, e.begin - done) + e.text;
      done = e.end;
    }
    return out + source_.substr(done);
  }

  // What the engine finds in the compiled module: sm_this_module.
  std::string entries() const {
    std::string out = "\n#ifndef SM_CHECK\n# 1 \"entries\"\n", table;
    for (const Kernel &k : kernels_) {
      std::string meanings, rows;
      for (const Parameter &p : k.parameters) {
        const bool indexed = !p.meaning.argument.empty();
        meanings += (meanings.empty() ? "sm::" : ", sm::") + p.meaning.name +
                    (indexed ? "<" + p.meaning.argument + ">" : "");
        rows += "{\"" + p.name + "\"},";
      }
      const std::string bind = "sm::bind<" + meanings + ">";
      out += "SM_UNSEEN static void sm_call_" + k.name +
             "(const sm_arguments *a, const sm_ids *i) { " + bind + "::call(&::" + k.name +
             ", a, i); }\nstatic sm_parameter sm_parameters_" + k.name + "[] = {" + rows +
             "{}};\nstatic const int sm_described_" + k.name + " = " + bind +
             "::describe(&::" + k.name + ", sm_parameters_" + k.name + ");\n";
      table += "{\"" + k.name + "\", sm_call_" + k.name + ", sm_parameters_" + k.name + ", " +
               std::to_string(k.parameters.size()) + ", " + k.max_threads + "},";
    }
    return out + "static const sm_kernel sm_kernels[] = {" + table +
           "{}};\nsm_module sm_this_module = {sm_kernels, " + std::to_string(kernels_.size()) +
           "};\n#endif\n";
  }

  std::string source_;
  Tokens t_;
  std::vector<Edit> edits_;
  std::vector<Kernel> kernels_;
  int variables_ = 0;
};

}  // namespace

std::string translate(const std::string &preprocessed) {
  return Translator(preprocessed).run();
}

}  // namespace softmetal
