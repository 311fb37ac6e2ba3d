"""The C interface of Dwell (native/jni/include/dwell.h) for NumPy arrays, through ctypes."""

import ctypes

import numpy as np

ABI_VERSION = 4
POINTER = ctypes.c_void_p


class Matrix(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ("coordinates", "length", "entries")] + \
        [(name, POINTER) for name in ("offsets", "indices", "values32", "values64")]


class Rows(ctypes.Structure):
    _fields_ = [("matrix", Matrix)] + [(name, POINTER) for name in ("labels", "weights", "norms", "projections", "scale")]


class Columns(ctypes.Structure):
    _fields_ = [("matrix", Matrix)] + [(name, POINTER) for name in ("mean", "variance", "deviation", "weights")]


class Round(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in ("sigma_prime", "l2", "total_weight")] + \
        [("seed", ctypes.c_uint64), ("budget", ctypes.c_uint64), ("partition", ctypes.c_int32), ("threads", ctypes.c_int32),
         ("point_count", ctypes.c_int64), ("points", POINTER)]


class Dual(ctypes.Structure):
    _fields_ = [("loss", ctypes.c_int32)] + [(name, ctypes.c_double) for name in ("gamma", "intercept", "offset")] + \
        [("candidate_count", ctypes.c_int64), ("candidates", POINTER)]


class Primal(ctypes.Structure):
    _fields_ = [("l1", ctypes.c_double), ("scale_factor", ctypes.c_double), ("centred", ctypes.c_bool), ("certificate", ctypes.c_bool)]


class Report(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in ("value_before", "value_after", "conjugate", "ratio", "correlation", "kappa", "slope1",
                                                     "slope2", "curve11", "curve12", "curve22")] + \
        [("samples", ctypes.c_double * 24), ("losses", ctypes.c_double * 16)] + \
        [(name, ctypes.c_uint64) for name in ("coordinates", "nonzeros", "nanoseconds")]


class DwellError(Exception):
    """What the library says about a call that failed."""


class Library:
    def __init__(self, path):
        self._library = ctypes.CDLL(str(path))
        if self._library.dwell_abi_version() != ABI_VERSION:
            raise DwellError("%s has another version of the C interface than %d" % (path, ABI_VERSION))
        for function in (self._library.dwell_dual_round, self._library.dwell_primal_round):
            function.argtypes = [POINTER] * 10

    def dual_round(self, *arguments):
        """See `_round`; the vector holds the coefficients."""
        return self._round(self._library.dwell_dual_round, *arguments)

    def primal_round(self, *arguments):
        """See `_round`; the vector is the residual."""
        return self._round(self._library.dwell_primal_round, *arguments)

    def _round(self, function, data, settings, problem, alpha, cursor, vector):
        """Steps, update and cursor after one round from `alpha` and `cursor`, and its report.

        The steps of the round before are given as zeros: they matter only to the points of a line search.
        """
        delta, update, previous = np.empty(len(alpha)), np.empty(len(vector)), np.zeros(len(alpha))
        cursor, report = ctypes.c_uint64(cursor), Report()
        code = function(ctypes.addressof(data), ctypes.addressof(settings), ctypes.addressof(problem), alpha.ctypes.data, previous.ctypes.data,
                        ctypes.addressof(cursor), vector.ctypes.data, delta.ctypes.data, update.ctypes.data, ctypes.addressof(report))
        if code != 0:
            message = ctypes.create_string_buffer(1000)
            self._library.dwell_last_error(message, ctypes.c_size_t(1000))
            raise DwellError("Dwell: %s" % message.value.decode())
        return delta, update, cursor.value, report
