// svmlight (LIBSVM) text to compressed sparse rows, fed in chunks of any size.
//
//     line = [label [qid:N] {index:value}] [# comment]
//
// Indices rise along a row and lie below 2^31; numbers are finite (decimal.hpp has their grammar). Any other
// line is an error "LINE: reason". A line is parsed only when its newline is in memory: the newline stops
// every scan.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "decimal.hpp"

namespace minorant::svmlight {

struct ParseError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// An array that grows by realloc, which moves pages instead of copying them: the peak is the final size.
template <class T>
class Buffer {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    Buffer() { resize(16); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { std::free(data_); }

    void reserve(std::size_t extra) {
        if (extra > capacity_ - size_) resize(std::max(size_ + extra, 2 * capacity_));
    }
    void push(T value) {
        reserve(1);
        push_reserved(value);
    }
    void push_reserved(T value) { data_[size_++] = value; }
    std::size_t size() const { return size_; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }

    // Hands the array over; free() it.
    T* release() {
        resize(std::max<std::size_t>(size_, 1));
        size_ = capacity_ = 0;
        return std::exchange(data_, nullptr);
    }

  private:
    void resize(std::size_t capacity) {
        if (capacity > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_alloc();
        void* moved = std::realloc(data_, capacity * sizeof(T));
        if (moved == nullptr) throw std::bad_alloc();
        data_ = static_cast<T*>(moved);
        capacity_ = capacity;
    }

    T* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n'); }
inline bool ends_token(char c) { return c == '\n' || c == '#' || is_space(c); }

inline const char* skip_space(const char* p) {
    while (is_space(*p)) ++p;
    return p;
}

inline std::string_view token_at(const char* p) {
    const char* end = p;
    while (!ends_token(*end)) ++end;
    return {p, static_cast<std::size_t>(end - p)};
}

// A token as an error message shows it: short, printable.
inline std::string quoted(std::string_view token) {
    constexpr std::size_t kShown = 40;
    constexpr char kHex[] = "0123456789abcdef";
    std::string text = "'";
    for (const char c : token.substr(0, kShown)) {
        if (c > ' ' && c <= '~') {
            text += c;
        } else {
            const auto byte = static_cast<unsigned char>(c);
            text += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
        }
    }
    return text + (token.size() > kShown ? "...'" : "'");
}

enum class Base {
    kAuto,
    kZero,
    kOne
};  // what the first column is called; kAuto: one, unless index 0 appears

template <class Value>
class Reader {
  public:
    static constexpr std::int64_t kMaxIndex = std::numeric_limits<std::int32_t>::max();

    // n_features = 0: as many as the largest index needs.
    Reader(Base base, std::int64_t n_features, std::size_t max_line)
        : base_(base),
          n_features_(n_features),
          max_line_(max_line),
          lowest_(base == Base::kOne ? 1 : 0),
          highest_(n_features == 0 ? kMaxIndex
                                   : std::min(kMaxIndex, n_features - (base == Base::kZero ? 1 : 0))) {
        row_ends_.push(0);
    }

    void feed(const char* p, std::size_t size) {
        const char* const end = p + size;
        while (p != end) {
            const auto* newline =
                static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
            if (newline == nullptr || !carry_.empty()) {
                const char* const stop = newline == nullptr ? end : newline + 1;
                carry_.append(p, stop);
                p = stop;
                if (newline == nullptr) {
                    check_length(carry_.size(), line_ + 1);
                } else {
                    parse_line(carry_.data(), carry_.data() + carry_.size() - 1);
                    carry_.clear();
                }
            } else {
                parse_line(p, newline);
                p = newline + 1;
            }
        }
    }

    // Call once, after the last chunk; then the arrays are complete and their indices count from 0.
    void finish() {
        if (!carry_.empty()) {
            carry_ += '\n';
            parse_line(carry_.data(), carry_.data() + carry_.size() - 1);
            carry_.clear();
        }
        const bool one_based = base_ == Base::kOne || (base_ == Base::kAuto && zero_line_ == 0);
        if (base_ == Base::kAuto && !one_based && top_line_ != 0) {
            fail(top_line_,
                 "index " + std::to_string(n_features_) + " is out of range: index 0 in line " +
                     std::to_string(zero_line_) + " says that indices start at 0, and n_features=" +
                     std::to_string(n_features_) + " then allows 0 to " + std::to_string(n_features_ - 1));
        }
        if (one_based) {
            for (std::int32_t& index : indices_) --index;
        }
        n_columns_ =
            n_features_ != 0 ? n_features_ : std::max<std::int64_t>(largest_ + (one_based ? 0 : 1), 1);
    }

    Buffer<double>& labels() { return labels_; }
    Buffer<Value>& values() { return values_; }
    Buffer<std::int32_t>& indices() { return indices_; }
    Buffer<std::int64_t>& row_ends() { return row_ends_; }
    std::int64_t n_columns() const { return n_columns_; }

  private:
    // The least double that rounds to infinity in the type of the values.
    static constexpr double kLimit =
        std::is_same_v<Value, float> ? 0x1.ffffffp127 : std::numeric_limits<double>::infinity();

    [[noreturn]] static void fail(std::int64_t line, const std::string& reason) {
        throw ParseError(std::to_string(line) + ": " + reason);
    }

    void check_length(std::size_t length, std::int64_t line) const {
        if (length > max_line_) fail(line, "line longer than " + std::to_string(max_line_) + " bytes");
    }

    // The line [p, end), with *end == '\n'.
    void parse_line(const char* p, const char* end) {
        ++line_;
        const auto length = static_cast<std::size_t>(end - p);
        check_length(length, line_);
        if (std::memchr(p, '\0', length) != nullptr) fail(line_, "NUL byte: this is not a text file");
        p = skip_space(p);
        if (*p == '\n' || *p == '#') return;

        const char* const start = p;
        double label;
        if (!read_number(p, label) || !ends_token(*p) || !std::isfinite(label)) refuse_label(token_at(start));
        p = skip_space(p);
        if (p[0] == 'q' && p[1] == 'i' && p[2] == 'd' && p[3] == ':') p = skip_query(p);

        const std::size_t most = length / 4 + 1;  // a feature takes four bytes, as in " 1:2"
        indices_.reserve(most);
        values_.reserve(most);
        const std::size_t first = indices_.size();
        std::int64_t previous = lowest_ - 1;
        while (*p != '\n' && *p != '#') {
            const char* const token = p;
            std::int64_t index = 0;
            for (; is_digit(*p); ++p) index = std::min(10 * index + (*p - '0'), kMaxIndex + 1);
            double value;
            const bool good = p != token && *p == ':' && index > previous && index <= highest_ &&
                              read_number(++p, value) && ends_token(*p) && std::abs(value) < kLimit;
            if (!good) refuse_feature(token_at(token), previous);
            indices_.push_reserved(static_cast<std::int32_t>(index));
            values_.push_reserved(static_cast<Value>(value));
            previous = index;
            p = skip_space(p);
        }
        labels_.push(label);
        row_ends_.push(static_cast<std::int64_t>(indices_.size()));
        if (indices_.size() == first) return;
        largest_ = std::max(largest_, previous);
        if (zero_line_ == 0 && indices_.begin()[first] == 0) zero_line_ = line_;
        if (top_line_ == 0 && n_features_ != 0 && previous == n_features_) top_line_ = line_;
    }

    const char* skip_query(const char* p) const {
        const std::string_view token = token_at(p);
        const bool whole = token.size() > 4 && std::all_of(token.begin() + 4, token.end(), is_digit);
        if (!whole) fail(line_, "expected qid:N with a whole number N, got " + quoted(token));
        return skip_space(p + token.size());
    }

    // "is not finite" or "is not a number", for the token of a number that was refused.
    static std::string blame(std::string_view token) {
        const char* p = token.data();
        double value;
        if (read_number(p, value) && p == token.data() + token.size()) {
            const bool narrow = std::is_same_v<Value, float> && std::isfinite(value);
            return narrow ? "is not finite in float32" : "is not finite";
        }
        if (!token.empty() && (token.front() == '-' || token.front() == '+')) token.remove_prefix(1);
        std::string word(token.substr(0, 9));
        for (char& c : word) c = static_cast<char>(c | 0x20);
        return word == "nan" || word == "inf" || word == "infinity" ? "is not finite" : "is not a number";
    }

    [[noreturn]] void refuse_label(std::string_view token) const {
        if (token.find(':') != token.npos) fail(line_, "no label: the row starts with " + quoted(token));
        if (token.find(',') != token.npos) {
            fail(line_, "label " + quoted(token) + " is a list: one label per row is allowed");
        }
        fail(line_, "label " + quoted(token) + " " + blame(token));
    }

    [[noreturn]] void refuse_feature(std::string_view token, std::int64_t previous) const {
        const std::size_t colon = token.find(':');
        if (colon == token.npos) fail(line_, "expected index:value, got " + quoted(token));
        const std::string_view name = token.substr(0, colon);
        const std::string where = "index in " + quoted(token);
        if (name.empty() || !std::all_of(name.begin(), name.end(), is_digit)) {
            fail(line_, where + " is not a whole number >= 0");
        }
        std::int64_t index = 0;
        for (const char c : name) index = std::min(10 * index + (c - '0'), kMaxIndex + 1);
        if (index > kMaxIndex) fail(line_, where + " is too large: allowed are indices below 2**31");
        if (index < lowest_) fail(line_, where + " is 0, but zero_based=False says that indices start at 1");
        if (index > highest_) {
            fail(line_, where + " is out of range: n_features=" + std::to_string(n_features_) +
                            " allows indices up to " + std::to_string(highest_));
        }
        if (index == previous) fail(line_, where + " appears twice in its row");
        if (index < previous) {
            fail(line_, where + " comes after index " + std::to_string(previous) +
                            ": indices must rise along a row");
        }
        fail(line_, "value in " + quoted(token) + " " + blame(token.substr(colon + 1)));
    }

    const Base base_;
    const std::int64_t n_features_;
    const std::size_t max_line_;
    const std::int64_t lowest_, highest_;
    std::int64_t line_ = 0;
    std::int64_t zero_line_ = 0;  // the first line with index 0
    std::int64_t top_line_ = 0;   // the first line with index n_features
    std::int64_t largest_ = -1;
    std::int64_t n_columns_ = 0;
    std::string carry_;
    Buffer<double> labels_;
    Buffer<Value> values_;
    Buffer<std::int32_t> indices_;
    Buffer<std::int64_t> row_ends_;
};

}  // namespace minorant::svmlight
