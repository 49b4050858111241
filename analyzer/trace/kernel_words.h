// A kernel's name taken apart for the rules that say what it does: identifiers, and the words that they are made of.
#pragma once

#include <string>
#include <string_view>

namespace swinscope {

// The words of one identifier or several: "vectorized_layer_norm_kernel", "LayerNormFwd" and "s1688gemm" have the words
// vectorized, layer, norm, kernel; layer, norm, fwd; and s, 1688, gemm.
class Words {
 public:
  // Adds those of an identifier. Words end at anything but letters and digits, where lower case turns to upper case,
  // and between letters and digits.
  void add(std::string_view identifier);
  bool empty() const { return text_.empty(); }

  // Whether one of the alternatives of a pattern holds: "layernorm|^triton&mm|gemv*|*gemm". An alternative is one or
  // several terms joined by &, each a run of whole words, written without what separates them: "allreduce" stands for
  // all_reduce, AllReduce and allreduce. ^ ties it to the first word, = to the first and the last; with * the word may
  // go on (before or behind).
  bool match(std::string_view pattern) const;

 private:
  bool has_term(std::string_view term) const;

  std::string text_;    // in lower case, without separators
  std::string starts_;  // of each character of text_: '1' where a word begins
};

// The parts of a kernel's name. Parameter types are none: they say nothing of what a kernel does.
struct KernelWords {
  Words base;       // of the function's own name
  Words scope;      // of its namespaces and classes
  Words arguments;  // of its template arguments, without the parameters of functions in them
};

// Of a name as C++ demangles it or as Nsight Systems prints it, of a linker symbol, or of one that is no C++.
KernelWords kernel_words(std::string_view name);

}  // namespace swinscope
