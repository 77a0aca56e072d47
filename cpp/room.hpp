// Memory for the vectors of one call, a stack: what was taken last is given back first, and may be taken
// again. What is given back in another order stays taken until the end of the call.
//
// A fit of some milliseconds would spend a third of them on the faults of fresh pages, one for each 512
// numbers. Here it has few large blocks, in huge pages where the system has such.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace minorant {

class Room {
  public:
    // The first block has room for so many numbers; more are made when they are needed.
    explicit Room(std::size_t numbers) : expected_(numbers * sizeof(double)) {}
    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;
    ~Room() {
        while (!blocks_.empty()) drop_block();
    }

    void* take(std::size_t bytes) {
        bytes = rounded(bytes);
        if (blocks_.empty() || bytes > blocks_.back().size - blocks_.back().used) add_block(bytes);
        Block& last = blocks_.back();
        std::byte* const place = last.begin + last.used;
        last.used += bytes;
        return place;
    }
    void give_back(void* place, std::size_t bytes) {
        bytes = rounded(bytes);
        Block& last = blocks_.back();
        if (place != last.begin + last.used - bytes) return;
        last.used -= bytes;
        if (last.used == 0 && blocks_.size() > 1) drop_block();
    }

  private:
    static constexpr std::size_t kLine = 64, kPage = 4096, kHuge = std::size_t{1} << 21;

    struct Block {
        void* whole;
        std::byte* begin;
        std::size_t size, used;
    };

    static std::size_t rounded(std::size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

    void add_block(std::size_t bytes) {
        const std::size_t more = blocks_.empty() ? expected_ : expected_ / 4;
        const std::size_t size = std::max(bytes, rounded(more));
        std::size_t space = size + kPage;
        blocks_.reserve(blocks_.size() + 1);
        // Not `new` with the alignment of huge pages: what that gives back goes to the system, and has to be
        // cleared again for the next fit.
        void *const whole = ::operator new(space), *begin = whole;
        std::align(size >= kHuge ? kPage : kLine, size, begin, space);
#if defined(MADV_HUGEPAGE)
        if (size >= kHuge) madvise(begin, size, MADV_HUGEPAGE);  // a wish: it may fail
#endif
        blocks_.push_back({whole, static_cast<std::byte*>(begin), size, 0});
    }
    void drop_block() {
        ::operator delete(blocks_.back().whole);
        blocks_.pop_back();
    }

    const std::size_t expected_;
    std::vector<Block> blocks_;
};

template <class T>
struct InRoom {
    using value_type = T;
    using propagate_on_container_move_assignment = std::true_type;

    InRoom(Room& room) : room(&room) {}
    template <class U>
    InRoom(const InRoom<U>& other) : room(other.room) {}

    T* allocate(std::size_t n) { return static_cast<T*>(room->take(n * sizeof(T))); }
    void deallocate(T* place, std::size_t n) { room->give_back(place, n * sizeof(T)); }
    template <class U>
    bool operator==(const InRoom<U>& other) const {
        return room == other.room;
    }

    Room* room;
};

template <class T>
using RoomVector = std::vector<T, InRoom<T>>;

// The same with entries that are nothing in particular until they are written: clearing them would be one
// more pass.
template <class T>
struct InBareRoom : InRoom<T> {
    using InRoom<T>::InRoom;
    template <class U>
    struct rebind {
        using other = InBareRoom<U>;
    };
    template <class U>
    void construct(U* place) {
        ::new (static_cast<void*>(place)) U;
    }
    template <class U, class... Args>
    void construct(U* place, Args&&... args) {
        ::new (static_cast<void*>(place)) U(std::forward<Args>(args)...);
    }
};

template <class T>
using BareVector = std::vector<T, InBareRoom<T>>;

}  // namespace minorant
