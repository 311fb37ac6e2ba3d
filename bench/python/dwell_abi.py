"""The C interface of Dwell (native/jni/include/dwell.h) for NumPy arrays, through ctypes."""

import ctypes

import numpy as np

ABI_VERSION = 7
POINTER = ctypes.c_void_p


class Matrix(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ("coordinates", "length", "entries")] + \
        [(name, POINTER) for name in ("offsets", "indices", "values32", "values64")]


class Rows(ctypes.Structure):
    _fields_ = [("matrix", Matrix)] + [(name, POINTER) for name in ("labels", "weights", "norms", "scale")]


class Columns(ctypes.Structure):
    _fields_ = [("matrix", Matrix)] + [(name, POINTER) for name in ("mean", "variance", "deviation", "weights")]


class Round(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in ("sigma_prime", "l2", "total_weight")] + \
        [("seed", ctypes.c_uint64), ("budget", ctypes.c_uint64), ("partition", ctypes.c_int32), ("threads", ctypes.c_int32)]


class DwellError(Exception):
    """What the library says about a call that failed."""


class Library:
    def __init__(self, path):
        self._library = ctypes.CDLL(str(path))
        if self._library.dwell_abi_version() != ABI_VERSION:
            raise DwellError("%s has another version of the C interface than %d" % (path, ABI_VERSION))
        self._library.dwell_dual_round.argtypes = [POINTER, POINTER, ctypes.c_int32] + [POINTER] * 5
        self._library.dwell_primal_round.argtypes = [POINTER, POINTER, ctypes.c_double] + [POINTER] * 5

    def dual_round(self, rows, settings, loss, *vectors):
        """See `_round`; the vector holds the coefficients."""
        return self._round(self._library.dwell_dual_round, rows, settings, loss, *vectors)

    def primal_round(self, columns, settings, l1, *vectors):
        """See `_round`; the vector is the residual."""
        return self._round(self._library.dwell_primal_round, columns, settings, l1, *vectors)

    def _round(self, function, data, settings, number, alpha, cursor, vector):
        """Steps, update and cursor after one round from `alpha` and `cursor`."""
        delta, update = np.empty(len(alpha)), np.empty(len(vector))
        cursor = ctypes.c_uint64(cursor)
        code = function(ctypes.addressof(data), ctypes.addressof(settings), number, alpha.ctypes.data, ctypes.addressof(cursor), vector.ctypes.data,
                        delta.ctypes.data, update.ctypes.data)
        if code != 0:
            message = ctypes.create_string_buffer(1000)
            self._library.dwell_last_error(message, ctypes.c_size_t(1000))
            raise DwellError("Dwell: %s" % message.value.decode())
        return delta, update, cursor.value
