// Which of the largest keys form the solution: the search behind the projections that shrink.
//
// A key belongs if the aggregate of all keys at least as large (the shift that they alone would need) does
// not throw it out, and then all larger ones belong as well. A pivot near the median of the undecided keys is
// tested; then its own side is decided and leaves, so the work is linear, whatever the input.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace minorant {

// The lower median of the keys: of all where they are few (then it reorders them), else of a sample drawn
// without regard to the values, by a fixed sequence.
inline double middle_key(std::span<double> keys, std::uint64_t& state) {
    constexpr std::size_t kSample = 64;
    const auto median = [](std::span<double> values) {
        const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
        std::nth_element(values.begin(), middle, values.end());
        return *middle;
    };
    if (keys.size() <= kSample) return median(keys);
    double sample[kSample];
    for (double& key : sample) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        key = keys[(state >> 33) % keys.size()];
    }
    return median(sample);
}

// The aggregate of the keys that belong. Consumes `keys`; adds the keys visited to `work`. An aggregate has
// look_from(pivot), before keys ≥ pivot are added, and add(key).
template <class Aggregate, class Belongs>
Aggregate top_set(std::span<double> keys, Aggregate decided, Belongs&& belongs, std::size_t& work) {
    std::uint64_t state = 1;
    while (!keys.empty()) {
        work += 2 * keys.size();
        const double pivot = middle_key(keys, state);
        Aggregate trial = decided;
        trial.look_from(pivot);
        for (const double key : keys)
            if (key >= pivot) trial.add(key);
        std::size_t left = 0;
        if (belongs(trial, pivot)) {
            decided = trial;
            for (const double key : keys) {
                keys[left] = key;
                left += key < pivot;
            }
        } else {
            for (const double key : keys) {
                keys[left] = key;
                left += key > pivot;
            }
        }
        keys = keys.first(left);
    }
    return decided;
}

}  // namespace minorant
