// Which way each step of a pass goes through the tokens: against the step before, whose last results are still in the
// L2 cache. Steps that cannot choose go from the first to the last.
#pragma once

namespace swinscope {

class Serpentine {
 public:
  // off: no step turns.
  explicit Serpentine(bool on) : on_(on) {}
  // Whether the next step is to go backwards, if it `can`.
  bool against_the_last(bool can) const { return can && on_ && !went_backwards_; }
  void went(bool backwards) { went_backwards_ = backwards; }
  bool on() const { return on_; }

 private:
  bool on_;
  bool went_backwards_ = false;
};

}  // namespace swinscope
