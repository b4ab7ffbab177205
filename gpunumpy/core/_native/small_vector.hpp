// SmallVector: a vector whose first elements need no memory of their own.
#pragma once

#include <cstddef>
#include <vector>

namespace core {

// Of elements without constructors, in a scope of one function: it cannot be copied or moved.
template <typename T, size_t FEW>
class SmallVector {
public:
    SmallVector() = default;
    SmallVector(const SmallVector&) = delete;
    SmallVector& operator=(const SmallVector&) = delete;

    void push_back(T value) {
        if (size_ == capacity_) grow();
        data_[size_++] = value;
    }
    void clear() { size_ = 0; }
    size_t size() const { return size_; }
    T& operator[](size_t k) { return data_[k]; }
    T& back() { return data_[size_ - 1]; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }

private:
    void grow() {
        std::vector<T> larger(begin(), end());
        larger.resize(2 * capacity_);
        many_.swap(larger);
        data_ = many_.data();
        capacity_ *= 2;
    }

    T few_[FEW];
    std::vector<T> many_;
    T* data_ = few_;
    size_t size_ = 0, capacity_ = FEW;
};

}  // namespace core
