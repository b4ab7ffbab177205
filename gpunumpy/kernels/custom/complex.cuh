// complex<T>, the complex numbers of kernels that users write; as in CuPy, after <cupy/complex.cuh> or in operations.
#ifndef GPUNUMPY_COMPLEX
#define GPUNUMPY_COMPLEX

namespace thrust {

template <class T> struct alignas(2 * sizeof(T)) complex {
  typedef T value_type;
  complex() = default;
  __host__ __device__ constexpr complex(T re, T im = T(0)) : re_(re), im_(im) {}
  template <class U> __host__ __device__ constexpr complex(complex<U> z) : re_(T(z.real())), im_(T(z.imag())) {}
  __host__ __device__ constexpr T real() const { return re_; }
  __host__ __device__ constexpr T imag() const { return im_; }
  __host__ __device__ void real(T x) { re_ = x; }
  __host__ __device__ void imag(T x) { im_ = x; }
  __host__ __device__ complex& operator+=(complex z) { re_ += z.re_; im_ += z.im_; return *this; }
  __host__ __device__ complex& operator-=(complex z) { re_ -= z.re_; im_ -= z.im_; return *this; }
  __host__ __device__ complex& operator*=(complex z) { return *this = *this * z; }
  __host__ __device__ complex& operator/=(complex z) { return *this = *this / z; }
  // Friends, so that numbers convert to complex on either side.
  friend __host__ __device__ complex operator+(complex a) { return a; }
  friend __host__ __device__ complex operator-(complex a) { return complex(-a.re_, -a.im_); }
  friend __host__ __device__ complex operator+(complex a, complex b) { return complex(a.re_ + b.re_, a.im_ + b.im_); }
  friend __host__ __device__ complex operator-(complex a, complex b) { return complex(a.re_ - b.re_, a.im_ - b.im_); }
  friend __host__ __device__ complex operator*(complex a, complex b) {
    return complex(a.re_ * b.re_ - a.im_ * b.im_, a.re_ * b.im_ + a.im_ * b.re_);
  }
  // Smith (1962).
  friend __host__ __device__ complex operator/(complex a, complex b) {
    if (::fabs(b.re_) >= ::fabs(b.im_)) {
      T ratio = b.im_ / b.re_, size = b.re_ + b.im_ * ratio;
      return complex((a.re_ + a.im_ * ratio) / size, (a.im_ - a.re_ * ratio) / size);
    }
    T ratio = b.re_ / b.im_, size = b.im_ + b.re_ * ratio;
    return complex((a.re_ * ratio + a.im_) / size, (a.im_ * ratio - a.re_) / size);
  }
  friend __host__ __device__ complex pow(complex a, complex b) {
    return a == complex(T(0)) ? complex(T(b == complex(T(0)) ? 1 : 0)) : exp(b * log(a));
  }
  friend __host__ __device__ bool operator==(complex a, complex b) { return a.re_ == b.re_ && a.im_ == b.im_; }
  friend __host__ __device__ bool operator!=(complex a, complex b) { return !(a == b); }

 private:
  T re_, im_;
};

template <class T> __host__ __device__ T real(complex<T> z) { return z.real(); }
template <class T> __host__ __device__ T imag(complex<T> z) { return z.imag(); }
template <class T> __host__ __device__ complex<T> conj(complex<T> z) { return complex<T>(z.real(), -z.imag()); }
template <class T> __host__ __device__ T norm(complex<T> z) { return z.real() * z.real() + z.imag() * z.imag(); }
template <class T> __host__ __device__ T abs(complex<T> z) { return ::hypot(z.real(), z.imag()); }
template <class T> __host__ __device__ T arg(complex<T> z) { return ::atan2(z.imag(), z.real()); }
template <class T> __host__ __device__ bool isnan(complex<T> z) { return z.real() != z.real() || z.imag() != z.imag(); }
template <class T> __host__ __device__ bool isfinite(complex<T> z) {
  return ::isfinite(z.real()) && ::isfinite(z.imag());
}
template <class T> __host__ __device__ bool isinf(complex<T> z) { return ::isinf(z.real()) || ::isinf(z.imag()); }
template <class T> __host__ __device__ complex<T> polar(T r, T angle = T(0)) {
  return complex<T>(r * ::cos(angle), r * ::sin(angle));
}
template <class T> __host__ __device__ complex<T> exp(complex<T> z) { return polar<T>(::exp(z.real()), z.imag()); }
template <class T> __host__ __device__ complex<T> log(complex<T> z) { return complex<T>(::log(abs(z)), arg(z)); }
template <class T> __host__ __device__ complex<T> log10(complex<T> z) { return log(z) / T(2.302585092994045684); }
template <class T> __host__ __device__ complex<T> sqrt(complex<T> z) {
  T size = abs(z), x = ::sqrt((size + ::fabs(z.real())) / 2);
  if (x == 0) return complex<T>(0, z.imag());
  T y = ::fabs(z.imag()) / (2 * x);
  return z.real() >= 0 ? complex<T>(x, ::copysign(y, z.imag())) : complex<T>(y, ::copysign(x, z.imag()));
}
template <class T> __host__ __device__ complex<T> sinh(complex<T> z) {
  return complex<T>(::sinh(z.real()) * ::cos(z.imag()), ::cosh(z.real()) * ::sin(z.imag()));
}
template <class T> __host__ __device__ complex<T> cosh(complex<T> z) {
  return complex<T>(::cosh(z.real()) * ::cos(z.imag()), ::sinh(z.real()) * ::sin(z.imag()));
}
template <class T> __host__ __device__ complex<T> sin(complex<T> z) {
  return complex<T>(::sin(z.real()) * ::cosh(z.imag()), ::cos(z.real()) * ::sinh(z.imag()));
}
template <class T> __host__ __device__ complex<T> cos(complex<T> z) {
  return complex<T>(::cos(z.real()) * ::cosh(z.imag()), -::sin(z.real()) * ::sinh(z.imag()));
}
template <class T> __host__ __device__ complex<T> tanh(complex<T> z) { return sinh(z) / cosh(z); }
template <class T> __host__ __device__ complex<T> tan(complex<T> z) { return sin(z) / cos(z); }
// Kahan (1987): each part is a function of a product that does not cancel. Signs of zeros choose branches.
template <class T> __host__ __device__ complex<T> asin(complex<T> z) {
  complex<T> less = sqrt(complex<T>(1 - z.real(), -z.imag())), more = sqrt(complex<T>(1 + z.real(), z.imag()));
  return complex<T>(::atan2(z.real(), (less * more).real()), ::asinh((conj(less) * more).imag()));
}
template <class T> __host__ __device__ complex<T> acos(complex<T> z) {
  complex<T> less = sqrt(complex<T>(1 - z.real(), -z.imag())), more = sqrt(complex<T>(1 + z.real(), z.imag()));
  return complex<T>(2 * ::atan2(less.real(), more.real()), ::asinh((conj(more) * less).imag()));
}
template <class T> __host__ __device__ complex<T> acosh(complex<T> z) {
  complex<T> less = sqrt(complex<T>(z.real() - 1, z.imag())), more = sqrt(complex<T>(z.real() + 1, z.imag()));
  return complex<T>(::asinh((conj(less) * more).real()), 2 * ::atan2(less.imag(), more.real()));
}
template <class T> __host__ __device__ complex<T> atanh(complex<T> z) {
  T x = z.real(), y = z.imag(), away = (1 - x) * (1 - x) + y * y;
  return complex<T>(::log1p(4 * x / away) / 4, ::atan2(2 * y, (1 - x) * (1 + x) - y * y) / 2);
}
template <class T> __host__ __device__ complex<T> asinh(complex<T> z) {
  complex<T> turned = asin(complex<T>(-z.imag(), z.real()));
  return complex<T>(turned.imag(), -turned.real());
}
template <class T> __host__ __device__ complex<T> atan(complex<T> z) {
  complex<T> turned = atanh(complex<T>(-z.imag(), z.real()));
  return complex<T>(turned.imag(), -turned.real());
}

// Beside the friend of complex numbers, which is no member of the namespace.
template <class T> __host__ __device__ complex<T> pow(complex<T> a, complex<T> b) { return pow(a, b); }
template <class T, class U> __host__ __device__ complex<T> pow(complex<T> a, U b) { return pow(a, complex<T>(b)); }
template <class T, class U> __host__ __device__ complex<T> pow(U a, complex<T> b) { return pow(complex<T>(a), b); }

}  // namespace thrust

using thrust::complex;
using thrust::polar;

#endif
