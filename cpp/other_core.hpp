// A thread that was just made may be put on the core of its maker, and wait there for milliseconds while
// another core is idle: systems move it only when they next look at the load. `OtherCore` sends it away at
// once, and the thread itself lifts the restriction when it runs. Where the system has no such call, nothing
// is done.
#pragma once

#include <thread>

#if defined(__linux__) && defined(__GLIBC__)
#include <pthread.h>
#include <sched.h>
#endif

namespace minorant {

class OtherCore {
  public:
#if defined(__linux__) && defined(__GLIBC__)
    // Of the maker, before it makes the thread
    OtherCore() {
        known_ = sched_getaffinity(0, sizeof all_, &all_) == 0;
        others_ = all_;
        const int here = sched_getcpu();
        if (here >= 0 && here < CPU_SETSIZE) CPU_CLR(here, &others_);
        known_ = known_ && CPU_COUNT(&others_) > 0;
    }
    void send(std::thread& thread) const {
        if (known_) pthread_setaffinity_np(thread.native_handle(), sizeof others_, &others_);
    }
    // The calling thread may run on all of its maker's cores again.
    void arrived() const {
        if (known_) sched_setaffinity(0, sizeof all_, &all_);
    }

  private:
    cpu_set_t all_, others_;
    bool known_;
#else
    void send(std::thread&) const {}
    void arrived() const {}
#endif
};

}  // namespace minorant
