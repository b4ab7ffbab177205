# Made by tools/stubs with SciPy 1.18.1; CONTRIBUTING.md says how.
# mypy: disable-error-code="misc, override"
from typing import Any

from ... import ndarray
from . import windows as windows

class BadCoefficients(Warning): ...

class CZT(Any):
    def __init__(self, n: Any, m: Any = None, w: Any = None, a: Any = 1 + 0j) -> None: ...

class ShortTimeFFT(Any):
    def __init__(
        self,
        win: Any,
        hop: Any,
        fs: Any,
        *,
        fft_mode: Any = "onesided",
        mfft: Any = None,
        dual_win: Any = None,
        scale_to: Any = None,
        phase_shift: Any = 0,
    ) -> None: ...

class StateSpace(Any):
    def __init__(self, *system: Any, dt: Any = None) -> None: ...

class TransferFunction(Any):
    def __init__(self, *system: Any, dt: Any = None) -> None: ...

class ZerosPolesGain(Any):
    def __init__(self, *system: Any, dt: Any = None) -> None: ...

class ZoomFFT(Any):
    def __init__(self, n: Any, fn: Any, m: Any = None, *, fs: Any = 2, endpoint: Any = False) -> None: ...

def abcd_normalize(A: Any = None, B: Any = None, C: Any = None, D: Any = None) -> Any: ...
def argrelextrema(data: Any, comparator: Any, axis: Any = 0, order: Any = 1, mode: Any = "clip") -> Any: ...
def argrelmax(data: Any, axis: Any = 0, order: Any = 1, mode: Any = "clip") -> Any: ...
def argrelmin(data: Any, axis: Any = 0, order: Any = 1, mode: Any = "clip") -> Any: ...
def band_stop_obj(wp: Any, ind: Any, passb: Any, stopb: Any, gpass: Any, gstop: Any, type: Any) -> Any: ...
def bessel(
    N: Any, Wn: Any, btype: Any = "low", analog: Any = False, output: Any = "ba", norm: Any = "phase", fs: Any = None
) -> Any: ...
def besselap(N: Any, norm: Any = "phase", *, xp: Any = None, device: Any = None) -> Any: ...
def bilinear(b: Any, a: Any, fs: Any = 1.0) -> Any: ...
def bilinear_zpk(z: Any, p: Any, k: Any, fs: Any) -> Any: ...
def bode(system: Any, w: Any = None, n: Any = 100) -> Any: ...
def buttap(N: Any, *, xp: Any = None, device: Any = None) -> Any: ...
def butter(N: Any, Wn: Any, btype: Any = "low", analog: Any = False, output: Any = "ba", fs: Any = None) -> Any: ...
def buttord(wp: Any, ws: Any, gpass: Any, gstop: Any, analog: Any = False, fs: Any = None) -> Any: ...
def cheb1ap(N: Any, rp: Any, *, xp: Any = None, device: Any = None) -> Any: ...
def cheb1ord(wp: Any, ws: Any, gpass: Any, gstop: Any, analog: Any = False, fs: Any = None) -> Any: ...
def cheb2ap(N: Any, rs: Any, *, xp: Any = None, device: Any = None) -> Any: ...
def cheb2ord(wp: Any, ws: Any, gpass: Any, gstop: Any, analog: Any = False, fs: Any = None) -> Any: ...
def cheby1(
    N: Any, rp: Any, Wn: Any, btype: Any = "low", analog: Any = False, output: Any = "ba", fs: Any = None
) -> Any: ...
def cheby2(
    N: Any, rs: Any, Wn: Any, btype: Any = "low", analog: Any = False, output: Any = "ba", fs: Any = None
) -> Any: ...
def check_COLA(window: Any, nperseg: Any, noverlap: Any, tol: Any = 1e-10) -> Any: ...
def check_NOLA(window: Any, nperseg: Any, noverlap: Any, tol: Any = 1e-10) -> Any: ...
def chirp(
    t: Any,
    f0: Any,
    t1: Any,
    f1: Any,
    method: Any = "linear",
    phi: Any = 0,
    vertex_zero: Any = True,
    *,
    complex: Any = False,
) -> ndarray: ...
def choose_conv_method(in1: Any, in2: Any, mode: Any = "full", measure: Any = False) -> Any: ...
def closest_STFT_dual_window(win: Any, hop: Any, desired_dual: Any = None, *, scaled: Any = True) -> Any: ...
def coherence(
    x: Any,
    y: Any,
    fs: Any = 1.0,
    window: Any = "hann_periodic",
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = "constant",
    axis: Any = -1,
) -> Any: ...
def cont2discrete(system: Any, dt: Any, method: Any = "zoh", alpha: Any = None) -> Any: ...
def convolve(in1: Any, in2: Any, mode: Any = "full", method: Any = "auto") -> ndarray: ...
def convolve2d(in1: Any, in2: Any, mode: Any = "full", boundary: Any = "fill", fillvalue: Any = 0) -> ndarray: ...
def correlate(in1: Any, in2: Any, mode: Any = "full", method: Any = "auto") -> ndarray: ...
def correlate2d(in1: Any, in2: Any, mode: Any = "full", boundary: Any = "fill", fillvalue: Any = 0) -> ndarray: ...
def correlation_lags(in1_len: Any, in2_len: Any, mode: Any = "full") -> ndarray: ...
def csd(
    x: Any,
    y: Any,
    fs: Any = 1.0,
    window: Any = "hann_periodic",
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = "constant",
    return_onesided: Any = True,
    scaling: Any = "density",
    axis: Any = -1,
    average: Any = "mean",
) -> Any: ...
def cspline1d(signal: Any, lamb: Any = 0.0) -> ndarray: ...
def cspline1d_eval(cj: Any, newx: Any, dx: Any = 1.0, x0: Any = 0) -> ndarray: ...
def cspline2d(signal: Any, lamb: Any = 0.0, precision: Any = -1.0) -> ndarray: ...
def czt(x: Any, m: Any = None, w: Any = None, a: Any = 1 + 0j, *, axis: Any = -1) -> ndarray: ...
def czt_points(m: Any, w: Any = None, a: Any = 1 + 0j) -> ndarray: ...
def dbode(system: Any, w: Any = None, n: Any = 100) -> Any: ...
def decimate(x: Any, q: Any, n: Any = None, ftype: Any = "iir", axis: Any = -1, zero_phase: Any = True) -> ndarray: ...
def deconvolve(signal: Any, divisor: Any) -> Any: ...
def detrend(data: Any, axis: Any = -1, type: Any = "linear", bp: Any = 0, overwrite_data: Any = False) -> ndarray: ...
def dfreqresp(system: Any, w: Any = None, n: Any = 10000, whole: Any = False) -> Any: ...
def dimpulse(system: Any, x0: Any = None, t: Any = None, n: Any = None) -> Any: ...
def dlsim(system: Any, u: Any, t: Any = None, x0: Any = None) -> Any: ...

class dlti(Any):
    def __init__(self, *system: Any, dt: Any = None) -> None: ...

def dstep(system: Any, x0: Any = None, t: Any = None, n: Any = None) -> Any: ...
def ellip(
    N: Any, rp: Any, rs: Any, Wn: Any, btype: Any = "low", analog: Any = False, output: Any = "ba", fs: Any = None
) -> Any: ...
def ellipap(N: Any, rp: Any, rs: Any, *, xp: Any = None, device: Any = None) -> Any: ...
def ellipord(wp: Any, ws: Any, gpass: Any, gstop: Any, analog: Any = False, fs: Any = None) -> Any: ...
def envelope(
    z: Any, bp_in: Any = ..., *, n_out: Any = None, squared: Any = False, residual: Any = "lowpass", axis: Any = -1
) -> ndarray: ...
def fftconvolve(in1: Any, in2: Any, mode: Any = "full", axes: Any = None) -> ndarray: ...
def filtfilt(
    b: Any,
    a: Any,
    x: Any,
    axis: Any = -1,
    padtype: Any = "odd",
    padlen: Any = None,
    method: Any = "pad",
    irlen: Any = None,
) -> ndarray: ...
def find_peaks(
    x: Any,
    height: Any = None,
    threshold: Any = None,
    distance: Any = None,
    prominence: Any = None,
    width: Any = None,
    wlen: Any = None,
    rel_height: Any = 0.5,
    plateau_size: Any = None,
) -> Any: ...
def find_peaks_cwt(
    vector: Any,
    widths: Any,
    wavelet: Any = None,
    max_distances: Any = None,
    gap_thresh: Any = None,
    min_length: Any = None,
    min_snr: Any = 1,
    noise_perc: Any = 10,
    window_size: Any = None,
) -> ndarray: ...
def findfreqs(num: Any, den: Any, N: Any, kind: Any = "ba") -> Any: ...
def firls(numtaps: Any, bands: Any, desired: Any, *, weight: Any = None, fs: Any = None) -> ndarray: ...
def firwin(
    numtaps: Any,
    cutoff: Any,
    *,
    width: Any = None,
    window: Any = "hamming",
    pass_zero: Any = True,
    scale: Any = True,
    fs: Any = None,
) -> ndarray: ...
def firwin2(
    numtaps: Any,
    freq: Any,
    gain: Any,
    *,
    nfreqs: Any = None,
    window: Any = "hamming",
    antisymmetric: Any = False,
    fs: Any = None,
) -> ndarray: ...
def firwin_2d(
    hsize: Any,
    window: Any,
    *,
    fc: Any = None,
    fs: Any = 2,
    circular: Any = False,
    pass_zero: Any = True,
    scale: Any = True,
) -> Any: ...
def freqresp(system: Any, w: Any = None, n: Any = 10000) -> Any: ...
def freqs(b: Any, a: Any, worN: Any = 200, plot: Any = None) -> Any: ...
def freqs_zpk(z: Any, p: Any, k: Any, worN: Any = 200) -> Any: ...
def freqz(
    b: Any,
    a: Any = 1,
    worN: Any = 512,
    whole: Any = False,
    plot: Any = None,
    fs: Any = 6.283185307179586,
    include_nyquist: Any = False,
) -> Any: ...
def freqz_sos(sos: Any, worN: Any = 512, whole: Any = False, fs: Any = 6.283185307179586) -> Any: ...
def freqz_zpk(z: Any, p: Any, k: Any, worN: Any = 512, whole: Any = False, fs: Any = 6.283185307179586) -> Any: ...
def gammatone(
    freq: Any, ftype: Any, order: Any = None, numtaps: Any = None, fs: Any = None, *, xp: Any = None, device: Any = None
) -> Any: ...
def gauss_spline(x: Any, n: Any) -> ndarray: ...
def gausspulse(
    t: Any, fc: Any = 1000, bw: Any = 0.5, bwr: Any = -6, tpr: Any = -60, retquad: Any = False, retenv: Any = False
) -> Any: ...
def get_window(window: Any, Nx: Any, fftbins: Any = True, *, xp: Any = None, device: Any = None) -> ndarray: ...
def group_delay(system: Any, w: Any = 512, whole: Any = False, fs: Any = 6.283185307179586) -> Any: ...
def hilbert(x: Any, N: Any = None, axis: Any = -1) -> ndarray: ...
def hilbert2(x: Any, N: Any = None, axes: Any = ...) -> ndarray: ...
def iircomb(
    w0: Any, Q: Any, ftype: Any = "notch", fs: Any = 2.0, *, pass_zero: Any = False, xp: Any = None, device: Any = None
) -> Any: ...
def iirdesign(
    wp: Any,
    ws: Any,
    gpass: Any,
    gstop: Any,
    analog: Any = False,
    ftype: Any = "ellip",
    output: Any = "ba",
    fs: Any = None,
) -> Any: ...
def iirfilter(
    N: Any,
    Wn: Any,
    rp: Any = None,
    rs: Any = None,
    btype: Any = "band",
    analog: Any = False,
    ftype: Any = "butter",
    output: Any = "ba",
    fs: Any = None,
) -> Any: ...
def iirnotch(w0: Any, Q: Any, fs: Any = 2.0, *, xp: Any = None, device: Any = None) -> Any: ...
def iirpeak(w0: Any, Q: Any, fs: Any = 2.0, *, xp: Any = None, device: Any = None) -> Any: ...
def impulse(system: Any, X0: Any = None, T: Any = None, N: Any = None) -> Any: ...
def invres(r: Any, p: Any, k: Any, tol: Any = 0.001, rtype: Any = "avg") -> Any: ...
def invresz(r: Any, p: Any, k: Any, tol: Any = 0.001, rtype: Any = "avg") -> Any: ...
def istft(
    Zxx: Any,
    fs: Any = 1.0,
    window: Any = "hann_periodic",
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    input_onesided: Any = True,
    boundary: Any = True,
    time_axis: Any = -1,
    freq_axis: Any = -2,
    scaling: Any = "spectrum",
) -> Any: ...
def kaiser_atten(numtaps: Any, width: Any) -> Any: ...
def kaiser_beta(a: Any) -> Any: ...
def kaiserord(ripple: Any, width: Any) -> Any: ...
def lfilter(b: Any, a: Any, x: Any, axis: Any = -1, zi: Any = None) -> Any: ...
def lfilter_zi(b: Any, a: Any) -> Any: ...
def lfiltic(b: Any, a: Any, y: Any, x: Any = None) -> ndarray: ...
def lombscargle(
    x: Any,
    y: Any,
    freqs: Any,
    *,
    precenter: Any = ...,
    normalize: Any = False,
    weights: Any = None,
    floating_mean: Any = False,
) -> Any: ...
def lp2bp(b: Any, a: Any, wo: Any = 1.0, bw: Any = 1.0) -> Any: ...
def lp2bp_zpk(z: Any, p: Any, k: Any, wo: Any = 1.0, bw: Any = 1.0) -> Any: ...
def lp2bs(b: Any, a: Any, wo: Any = 1.0, bw: Any = 1.0) -> Any: ...
def lp2bs_zpk(z: Any, p: Any, k: Any, wo: Any = 1.0, bw: Any = 1.0) -> Any: ...
def lp2hp(b: Any, a: Any, wo: Any = 1.0) -> Any: ...
def lp2hp_zpk(z: Any, p: Any, k: Any, wo: Any = 1.0) -> Any: ...
def lp2lp(b: Any, a: Any, wo: Any = 1.0) -> Any: ...
def lp2lp_zpk(z: Any, p: Any, k: Any, wo: Any = 1.0) -> Any: ...
def lsim(system: Any, U: Any, T: Any, X0: Any = None, interp: Any = True) -> Any: ...

class lti(Any):
    def __init__(self, *system: Any) -> None: ...

def max_len_seq(nbits: Any, state: Any = None, length: Any = None, taps: Any = None) -> Any: ...
def medfilt(volume: Any, kernel_size: Any = None) -> ndarray: ...
def medfilt2d(input: Any, kernel_size: Any = 3) -> ndarray: ...
def minimum_phase(h: Any, method: Any = "homomorphic", n_fft: Any = None, *, half: Any = True) -> ndarray: ...
def normalize(b: Any, a: Any) -> Any: ...
def oaconvolve(in1: Any, in2: Any, mode: Any = "full", axes: Any = None) -> ndarray: ...
def order_filter(a: Any, domain: Any, rank: Any) -> ndarray: ...
def peak_prominences(x: Any, peaks: Any, wlen: Any = None) -> Any: ...
def peak_widths(x: Any, peaks: Any, rel_height: Any = 0.5, prominence_data: Any = None, wlen: Any = None) -> Any: ...
def periodogram(
    x: Any,
    fs: Any = 1.0,
    window: Any = "boxcar",
    nfft: Any = None,
    detrend: Any = "constant",
    return_onesided: Any = True,
    scaling: Any = "density",
    axis: Any = -1,
) -> Any: ...
def place_poles(A: Any, B: Any, poles: Any, method: Any = "YT", rtol: Any = 0.001, maxiter: Any = 30) -> Any: ...
def qspline1d(signal: Any, lamb: Any = 0.0) -> ndarray: ...
def qspline1d_eval(cj: Any, newx: Any, dx: Any = 1.0, x0: Any = 0) -> ndarray: ...
def qspline2d(signal: Any, lamb: Any = 0.0, precision: Any = -1.0) -> ndarray: ...
def remez(
    numtaps: Any,
    bands: Any,
    desired: Any,
    *,
    weight: Any = None,
    type: Any = "bandpass",
    maxiter: Any = 25,
    grid_density: Any = 16,
    fs: Any = None,
) -> ndarray: ...
def resample(x: Any, num: Any, t: Any = None, axis: Any = 0, window: Any = None, domain: Any = "time") -> Any: ...
def resample_poly(
    x: Any, up: Any, down: Any, axis: Any = 0, window: Any = ..., padtype: Any = "constant", cval: Any = None
) -> ndarray: ...
def residue(b: Any, a: Any, tol: Any = 0.001, rtype: Any = "avg") -> Any: ...
def residuez(b: Any, a: Any, tol: Any = 0.001, rtype: Any = "avg") -> Any: ...
def savgol_coeffs(
    window_length: Any,
    polyorder: Any,
    deriv: Any = 0,
    delta: Any = 1.0,
    pos: Any = None,
    use: Any = "conv",
    *,
    xp: Any = None,
    device: Any = None,
) -> Any: ...
def savgol_filter(
    x: Any,
    window_length: Any,
    polyorder: Any,
    deriv: Any = 0,
    delta: Any = 1.0,
    axis: Any = -1,
    mode: Any = "interp",
    cval: Any = 0.0,
) -> ndarray: ...
def sawtooth(t: Any, width: Any = 1.0) -> ndarray: ...
def sepfir2d(input: Any, hrow: Any, hcol: Any) -> ndarray: ...
def sos2tf(sos: Any) -> Any: ...
def sos2zpk(sos: Any) -> Any: ...
def sosfilt(sos: Any, x: Any, axis: Any = -1, zi: Any = None) -> Any: ...
def sosfilt_zi(sos: Any) -> ndarray: ...
def sosfiltfilt(sos: Any, x: Any, axis: Any = -1, padtype: Any = "odd", padlen: Any = None) -> ndarray: ...
def sosfreqz(*args: Any, **kwargs: Any) -> Any: ...
def spectrogram(
    x: Any,
    fs: Any = 1.0,
    window: Any = ...,
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = "constant",
    return_onesided: Any = True,
    scaling: Any = "density",
    axis: Any = -1,
    mode: Any = "psd",
) -> Any: ...
def spline_filter(Iin: Any, lmbda: Any = 5.0) -> ndarray: ...
def square(t: Any, duty: Any = 0.5) -> ndarray: ...
def ss2tf(A: Any, B: Any, C: Any, D: Any, input: Any = 0) -> Any: ...
def ss2zpk(A: Any, B: Any, C: Any, D: Any, input: Any = 0) -> Any: ...
def step(system: Any, X0: Any = None, T: Any = None, N: Any = None) -> Any: ...
def stft(
    x: Any,
    fs: Any = 1.0,
    window: Any = "hann_periodic",
    nperseg: Any = 256,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = False,
    return_onesided: Any = True,
    boundary: Any = "zeros",
    padded: Any = True,
    axis: Any = -1,
    scaling: Any = "spectrum",
) -> Any: ...
def sweep_poly(t: Any, poly: Any, phi: Any = 0) -> ndarray: ...
def symiirorder1(signal: Any, c0: Any, z1: Any, precision: Any = -1.0) -> ndarray: ...
def symiirorder2(input: Any, r: Any, omega: Any, precision: Any = -1.0) -> ndarray: ...
def tf2sos(b: Any, a: Any, pairing: Any = None, *, analog: Any = False) -> ndarray: ...
def tf2ss(num: Any, den: Any) -> Any: ...
def tf2zpk(b: Any, a: Any) -> Any: ...
def unique_roots(p: Any, tol: Any = 0.001, rtype: Any = "min") -> Any: ...
def unit_impulse(shape: Any, idx: Any = None, dtype: Any = ...) -> ndarray: ...
def upfirdn(
    h: Any, x: Any, up: Any = 1, down: Any = 1, axis: Any = -1, mode: Any = "constant", cval: Any = 0
) -> ndarray: ...
def vectorstrength(events: Any, period: Any) -> Any: ...
def welch(
    x: Any,
    fs: Any = 1.0,
    window: Any = "hann_periodic",
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = "constant",
    return_onesided: Any = True,
    scaling: Any = "density",
    axis: Any = -1,
    average: Any = "mean",
) -> Any: ...
def whittaker_henderson(signal: Any, *, lamb: Any = "reml", order: Any = 2, weights: Any = None) -> Any: ...
def wiener(im: Any, mysize: Any = None, noise: Any = None) -> ndarray: ...
def zoom_fft(x: Any, fn: Any, m: Any = None, *, fs: Any = 2, endpoint: Any = False, axis: Any = -1) -> ndarray: ...
def zpk2sos(z: Any, p: Any, k: Any, pairing: Any = None, *, analog: Any = False) -> ndarray: ...
def zpk2ss(z: Any, p: Any, k: Any) -> Any: ...
def zpk2tf(z: Any, p: Any, k: Any) -> Any: ...

__all__ = [
    "BadCoefficients",
    "CZT",
    "ShortTimeFFT",
    "StateSpace",
    "TransferFunction",
    "ZerosPolesGain",
    "ZoomFFT",
    "abcd_normalize",
    "argrelextrema",
    "argrelmax",
    "argrelmin",
    "band_stop_obj",
    "bessel",
    "besselap",
    "bilinear",
    "bilinear_zpk",
    "bode",
    "buttap",
    "butter",
    "buttord",
    "cheb1ap",
    "cheb1ord",
    "cheb2ap",
    "cheb2ord",
    "cheby1",
    "cheby2",
    "check_COLA",
    "check_NOLA",
    "chirp",
    "choose_conv_method",
    "closest_STFT_dual_window",
    "coherence",
    "cont2discrete",
    "convolve",
    "convolve2d",
    "correlate",
    "correlate2d",
    "correlation_lags",
    "csd",
    "cspline1d",
    "cspline1d_eval",
    "cspline2d",
    "czt",
    "czt_points",
    "dbode",
    "decimate",
    "deconvolve",
    "detrend",
    "dfreqresp",
    "dimpulse",
    "dlsim",
    "dlti",
    "dstep",
    "ellip",
    "ellipap",
    "ellipord",
    "envelope",
    "fftconvolve",
    "filtfilt",
    "find_peaks",
    "find_peaks_cwt",
    "findfreqs",
    "firls",
    "firwin",
    "firwin2",
    "firwin_2d",
    "freqresp",
    "freqs",
    "freqs_zpk",
    "freqz",
    "freqz_sos",
    "freqz_zpk",
    "gammatone",
    "gauss_spline",
    "gausspulse",
    "get_window",
    "group_delay",
    "hilbert",
    "hilbert2",
    "iircomb",
    "iirdesign",
    "iirfilter",
    "iirnotch",
    "iirpeak",
    "impulse",
    "invres",
    "invresz",
    "istft",
    "kaiser_atten",
    "kaiser_beta",
    "kaiserord",
    "lfilter",
    "lfilter_zi",
    "lfiltic",
    "lombscargle",
    "lp2bp",
    "lp2bp_zpk",
    "lp2bs",
    "lp2bs_zpk",
    "lp2hp",
    "lp2hp_zpk",
    "lp2lp",
    "lp2lp_zpk",
    "lsim",
    "lti",
    "max_len_seq",
    "medfilt",
    "medfilt2d",
    "minimum_phase",
    "normalize",
    "oaconvolve",
    "order_filter",
    "peak_prominences",
    "peak_widths",
    "periodogram",
    "place_poles",
    "qspline1d",
    "qspline1d_eval",
    "qspline2d",
    "remez",
    "resample",
    "resample_poly",
    "residue",
    "residuez",
    "savgol_coeffs",
    "savgol_filter",
    "sawtooth",
    "sepfir2d",
    "sos2tf",
    "sos2zpk",
    "sosfilt",
    "sosfilt_zi",
    "sosfiltfilt",
    "sosfreqz",
    "spectrogram",
    "spline_filter",
    "square",
    "ss2tf",
    "ss2zpk",
    "step",
    "stft",
    "sweep_poly",
    "symiirorder1",
    "symiirorder2",
    "tf2sos",
    "tf2ss",
    "tf2zpk",
    "unique_roots",
    "unit_impulse",
    "upfirdn",
    "vectorstrength",
    "welch",
    "whittaker_henderson",
    "wiener",
    "windows",
    "zoom_fft",
    "zpk2sos",
    "zpk2ss",
    "zpk2tf",
]
