// SmallVector: a vector whose first elements need no memory of their own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

namespace core {

// Of elements without constructors. A moved vector is empty.
template <typename T, size_t FEW>
class SmallVector {
public:
    SmallVector() = default;
    SmallVector(const T* begin, const T* end) { append(begin, end); }
    SmallVector(const SmallVector& other) { append(other.begin(), other.end()); }
    SmallVector(SmallVector&& other) noexcept { take(other); }
    SmallVector& operator=(const SmallVector& other) {
        if (this != &other) {
            clear();
            append(other.begin(), other.end());
        }
        return *this;
    }
    SmallVector& operator=(SmallVector&& other) noexcept {
        if (this != &other) take(other);
        return *this;
    }

    void push_back(T value) {
        if (size_ == capacity_) reserve(2 * capacity_);
        data_[size_++] = value;
    }
    void append(const T* begin, const T* end) {
        reserve(size_ + (end - begin));
        std::copy(begin, end, data_ + size_);
        size_ += end - begin;
    }
    void pop_back() { size_--; }
    void clear() { size_ = 0; }
    void reserve(size_t count) {
        if (count <= capacity_) return;
        const size_t larger = std::max(count, 2 * capacity_);
        std::unique_ptr<T[]> many(new T[larger]);  // of any values
        std::copy(begin(), end(), many.get());
        many_ = std::move(many);
        data_ = many_.get();
        capacity_ = larger;
    }
    // Have so many elements, of which new ones have any value.
    void resize(size_t count) {
        reserve(count);
        size_ = count;
    }
    size_t size() const { return size_; }
    bool empty() const { return !size_; }
    T& operator[](size_t k) { return data_[k]; }
    const T& operator[](size_t k) const { return data_[k]; }
    T& back() { return data_[size_ - 1]; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }
    T* data() { return data_; }
    const T* data() const { return data_; }

private:
    void take(SmallVector& other) {
        many_ = std::move(other.many_);
        if (!many_) std::copy(other.begin(), other.end(), few_);
        data_ = many_ ? many_.get() : few_;
        size_ = std::exchange(other.size_, 0);
        capacity_ = std::exchange(other.capacity_, FEW);
        other.data_ = other.few_;
    }

    T few_[FEW];
    std::unique_ptr<T[]> many_;  // all of them, once they are too many
    T* data_ = few_;
    size_t size_ = 0, capacity_ = FEW;
};

}  // namespace core
