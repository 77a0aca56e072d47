// Threads over fixed blocks. The bounds of the blocks depend on the shape of the data alone, a sum is kept
// per block, and the sums are added in the order of the blocks: every result is bit-identical for any number
// of threads. Threads live for one call: nothing has to survive a fork.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

namespace minorant {

// Operations that pay for the start of one more thread.
inline constexpr double kThreadGrain = 2e5;

inline std::size_t team_size(std::size_t blocks, int threads, double work) {
    const double deserved = std::clamp(work / kThreadGrain, 1.0, static_cast<double>(std::max(threads, 1)));
    return std::min(std::max<std::size_t>(blocks, 1), static_cast<std::size_t>(deserved));
}

// The blocks of one call, as those who work on them see them. It outlives the call: a helper that gets a core
// only after all blocks are done finds none left, and touches nothing else.
struct Team {
    explicit Team(std::size_t blocks) : left(blocks) {}

    std::atomic<std::size_t> next{0}, left;
    std::mutex error_lock;
    std::exception_ptr error;

    template <class F>
    void take_blocks(std::size_t blocks, F& f) noexcept {
        for (std::size_t block; (block = next.fetch_add(1)) < blocks;) {
            try {
                f(block);
            } catch (...) {
                const std::lock_guard guard(error_lock);
                error = std::current_exception();
            }
            if (left.fetch_sub(1) == 1) left.notify_all();
        }
    }
    void wait() {
        for (std::size_t n; (n = left.load()) > 0;) left.wait(n);
    }
};

// Calls f(block) once for each block; `work` estimates the operations of all of them together. Nobody waits
// for a helper without a block: on a busy machine the calling thread does all of the work, and is not held
// up.
template <class F>
void parallel_blocks(std::size_t blocks, int threads, double work, F&& f) {
    const std::size_t size = team_size(blocks, threads, work);
    if (size == 1) {
        for (std::size_t block = 0; block < blocks; ++block) f(block);
        return;
    }
    const auto team = std::make_shared<Team>(blocks);
    try {
        for (std::size_t k = 1; k < size; ++k)
            std::thread([team, blocks, &f] { team->take_blocks(blocks, f); }).detach();
    } catch (...) {  // no more threads to be had: those that started, and this one, do all of the work
    }
    team->take_blocks(blocks, f);
    team->wait();
    if (team->error) std::rethrow_exception(team->error);
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
