// Threads over fixed blocks. The bounds of the blocks depend on the shape of the data alone, a sum is kept
// per block, and the sums are added in the order of the blocks: every result is bit-identical for any number
// of threads. Threads live for one call: nothing survives a fork, and a busy core only delays its own blocks.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace minorant {

// Operations that pay for the start of one more thread.
inline constexpr double kThreadGrain = 1e5;

inline std::size_t team_size(std::size_t blocks, int threads, double work) {
    const double deserved = std::clamp(work / kThreadGrain, 1.0, static_cast<double>(std::max(threads, 1)));
    return std::min(std::max<std::size_t>(blocks, 1), static_cast<std::size_t>(deserved));
}

// Calls f(block) once for each block; `work` estimates the operations of all of them together.
template <class F>
void parallel_blocks(std::size_t blocks, int threads, double work, F&& f) {
    const std::size_t team = team_size(blocks, threads, work);
    if (team == 1) {
        for (std::size_t block = 0; block < blocks; ++block) f(block);
        return;
    }
    std::atomic<std::size_t> next{0};
    std::exception_ptr error;
    std::mutex error_lock;
    auto take_blocks = [&]() noexcept {
        try {
            for (std::size_t block; (block = next.fetch_add(1)) < blocks;) f(block);
        } catch (...) {
            const std::lock_guard guard(error_lock);
            error = std::current_exception();
            next = blocks;
        }
    };
    std::vector<std::thread> helpers;
    helpers.reserve(team - 1);
    try {
        while (helpers.size() + 1 < team) helpers.emplace_back(take_blocks);
    } catch (...) {  // no more threads to be had: those that started, and this one, do all of the work
    }
    take_blocks();
    for (std::thread& helper : helpers) helper.join();
    if (error) std::rethrow_exception(error);
}

// Entry i of n goes to the block of kBlock neighbors that holds it.
inline constexpr std::size_t kBlock = 4096;

inline std::size_t block_count(std::size_t n) { return (n + kBlock - 1) / kBlock; }

// f(begin, end) for each block of the entries 0..n-1.
template <class F>
void parallel_ranges(std::size_t n, int threads, double work, F&& f) {
    parallel_blocks(block_count(n), threads, work,
                    [&](std::size_t block) { f(block * kBlock, std::min(n, (block + 1) * kBlock)); });
}

}  // namespace minorant
