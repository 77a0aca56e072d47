// Threads over fixed blocks. The bounds of the blocks depend on the shape of the data alone, a sum is kept
// per block, and the sums are added in the order of the blocks: every result is bit-identical for any number
// of threads. Threads live for one call of the core: nothing has to survive a fork.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <utility>

#include "other_core.hpp"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace minorant {

// What is about to happen on another core is waited for without sleeping, so many looks or some 50 µs: to be
// woken takes as long.
inline constexpr int kLooks = 2000;
inline void pause() {
#if defined(__x86_64__) || defined(__i386__)
    _mm_pause();
#endif
}

// The blocks of one pass, as those who work on them see them: a share of neighbors for each, and what is left
// of the shares of others for those who have done with their own. So a core meets the same rows in every
// pass, and finds them in its cache; to take over what another core has just written takes longer than to
// read it from memory. A task outlives its pass: a helper that gets a core only after all blocks are done
// finds none left, and touches nothing else.
class Task {
  public:
    template <class F>
    Task(std::size_t blocks, std::size_t workers, F& f)
        : workers_(workers),
          shares_(std::make_unique<Share[]>(workers)),
          left_(blocks),
          f_(const_cast<void*>(static_cast<const void*>(&f))),
          call_([](void* f, std::size_t block) { (*static_cast<F*>(f))(block); }) {
        for (std::size_t k = 0; k < workers; ++k)
            shares_[k].range = {static_cast<std::uint32_t>(blocks * k / workers),
                                static_cast<std::uint32_t>(blocks * (k + 1) / workers)};
    }

    void take_blocks(std::size_t worker) noexcept {
        worker %= workers_;
        for (std::uint32_t block; shares_[worker].take_first(block);) run(block);
        for (std::size_t k = 1; k < workers_; ++k)
            for (std::uint32_t block; shares_[(worker + k) % workers_].take_last(block);) run(block);
    }
    void wait() {
        for (int k = 0; k < kLooks && left_.load() > 0; ++k) pause();
        for (std::size_t n; (n = left_.load()) > 0;) left_.wait(n);
        if (error_) std::rethrow_exception(error_);
    }

  private:
    // The blocks of one worker that nobody has begun with; on a line of memory of its own.
    struct alignas(128) Share {
        struct Range {
            std::uint32_t begin, end;
        };
        std::atomic<Range> range;

        bool take_first(std::uint32_t& block) {
            return take([&](Range& now) { block = now.begin++; });
        }
        bool take_last(std::uint32_t& block) {
            return take([&](Range& now) { block = --now.end; });
        }

      private:
        template <class F>
        bool take(F&& cut) {
            Range now = range.load();
            while (now.begin < now.end) {
                Range next = now;
                cut(next);
                if (range.compare_exchange_weak(now, next)) return true;
            }
            return false;
        }
    };

    void run(std::size_t block) {
        try {
            call_(f_, block);
        } catch (...) {
            const std::lock_guard guard(error_lock_);
            error_ = std::current_exception();
        }
        if (left_.fetch_sub(1) == 1) left_.notify_all();
    }

    const std::size_t workers_;
    const std::unique_ptr<Share[]> shares_;
    std::atomic<std::size_t> left_;
    void* const f_;
    void (*const call_)(void*, std::size_t);
    std::mutex error_lock_;
    std::exception_ptr error_;
};

// Threads that help the one that made it, from the first task that is worth it on. While it lives it is the
// crew of its maker's thread, and all passes there share it: a pass of a tenth of a millisecond would wait
// half as long for a thread of its own. Between two tasks helpers look out for the next one for a moment
// before they sleep.
class Crew {
  public:
    Crew() : before_(std::exchange(current(), this)) {}
    // With all the threads, already, that a pass of so many operations will ask for.
    Crew(int threads, double work);
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;
    ~Crew() {
        current() = before_;
        if (helpers_ > 0) board_->post(nullptr);
    }

    static Crew*& current() {
        static thread_local Crew* crew = nullptr;
        return crew;
    }

    std::size_t size() const { return helpers_ + 1; }

    // Nobody waits for a helper without a block: on a busy machine the calling thread does all of the work,
    // and is not held up.
    void work(std::size_t size, const std::shared_ptr<Task>& task) {
        grow(size);
        if (helpers_ > 0) board_->post(task);
        task->take_blocks(0);
        task->wait();
    }

  private:
    void grow(std::size_t size) {
        try {
            if (!board_) board_ = std::make_shared<Board>();
            for (; helpers_ + 1 < size; ++helpers_) {
                const OtherCore there;
                std::thread helper([board = board_, seen = board_->number(), there, worker = helpers_ + 1] {
                    there.arrived();
                    board->serve(seen, worker);
                });
                there.send(helper);
                helper.detach();
            }
        } catch (...) {  // no more threads to be had: those that started, and this one, do all of the work
        }
    }

    // Where the next task is found; none at all ends the crew.
    class Board {
      public:
        std::uint32_t number() const { return number_.load(); }
        void post(std::shared_ptr<Task> task) {
            {
                const std::lock_guard guard(lock_);
                task_ = std::move(task);
            }
            number_.fetch_add(1);
            number_.notify_all();
        }
        void serve(std::uint32_t seen, std::size_t worker) {
            while (const std::shared_ptr<Task> task = next(seen)) task->take_blocks(worker);
        }

      private:
        static constexpr int kYields = 4000;  // some milliseconds

        std::shared_ptr<Task> next(std::uint32_t& seen) {
            for (int k = 0; k < kLooks && number_.load() == seen; ++k) pause();
            for (int k = 0; k < kYields && number_.load() == seen; ++k) std::this_thread::yield();
            number_.wait(seen);
            seen = number_.load();
            const std::lock_guard guard(lock_);
            return task_;
        }

        std::mutex lock_;
        std::shared_ptr<Task> task_;
        std::atomic<std::uint32_t> number_{0};
    };

    Crew* const before_;
    std::shared_ptr<Board> board_;
    std::size_t helpers_ = 0;
};

// Operations that pay for one more thread, and for one that is there already.
inline constexpr double kThreadGrain = 2e5, kHelperGrain = 2e4;

inline std::size_t team_size(std::size_t blocks, int threads, double work) {
    const double there = Crew::current() ? static_cast<double>(Crew::current()->size()) : 1.0;
    const double deserved = std::max(work / kThreadGrain, std::min(work / kHelperGrain, there));
    const double most = static_cast<double>(std::max(threads, 1));
    return std::min(std::max<std::size_t>(blocks, 1),
                    static_cast<std::size_t>(std::clamp(deserved, 1.0, most)));
}

inline Crew::Crew(int threads, double work) : Crew() {
    if (const std::size_t size = team_size(SIZE_MAX, threads, work); size > 1) grow(size);
}

// Calls f(block) once for each block; `work` estimates the operations of all of them together.
template <class F>
void parallel_blocks(std::size_t blocks, int threads, double work, F&& f) {
    const std::size_t size = team_size(blocks, threads, work);
    if (size == 1) {
        for (std::size_t block = 0; block < blocks; ++block) f(block);
        return;
    }
    const auto task = std::make_shared<Task>(blocks, size, f);
    if (Crew* const crew = Crew::current()) return crew->work(size, task);
    Crew().work(size, task);
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

// Where pages are fresh, threads share their faults too.
template <class T>
void fill(std::span<T> out, T value, int threads) {
    parallel_ranges(out.size(), threads, static_cast<double>(out.size()),
                    [=](std::size_t begin, std::size_t end) {
                        std::fill(out.begin() + begin, out.begin() + end, value);
                    });
}
template <class T>
void copy(std::span<const T> from, std::span<T> to, int threads) {
    parallel_ranges(to.size(), threads, 2.0 * static_cast<double>(to.size()),
                    [=](std::size_t begin, std::size_t end) {
                        std::copy(from.begin() + begin, from.begin() + end, to.begin() + begin);
                    });
}

}  // namespace minorant
