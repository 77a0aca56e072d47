#pragma once

namespace minorant {

// A sum that carries its rounding error along.
class Sum {
  public:
    void add(double x) {
        const double next = total_ + x, kept = next - total_;
        lost_ += (total_ - (next - kept)) + (x - kept);
        total_ = next;
    }
    double value() const { return total_ + lost_; }

  private:
    double total_ = 0, lost_ = 0;
};

}  // namespace minorant
