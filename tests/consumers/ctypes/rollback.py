"""Rolls a state back with nothing but ctypes: python rollback.py LIBRARY."""

import ctypes
import sys
from ctypes import POINTER, byref, c_char_p, c_float, c_int32, c_int64, c_uint64, c_void_p

F32 = 1
FACTORED = 1
STEPS, HEADS, HEAD_DIM, STATE_DIM, KEPT = 3, 2, 2, 4, 2


class Array(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("dtype", c_int32), ("reserved", c_int32)]


class ReplayArgs(ctypes.Structure):
    _fields_ = [
        ("size", c_uint64),
        ("flags", c_uint64),
        ("batch", c_int64),
        ("steps", c_int64),
        ("heads", c_int64),
        ("groups", c_int64),
        ("head_dim", c_int64),
        ("state_dim", c_int64),
        ("states", c_int64),
        ("state_stride", c_int64),
        ("state_out_stride", c_int64),
        ("tape", c_int32),
        ("reserved", c_int32),
        ("state", Array),
        ("decay", Array),
        ("scale", Array),
        ("u", Array),
        ("v", Array),
        ("da_log", Array),
        ("dbx_log", Array),
        ("mask", Array),
        ("k", POINTER(c_int32)),
        ("slots", POINTER(c_int32)),
        ("state_out", Array),
    ]


def load(path):
    library = ctypes.CDLL(path)
    library.dtape_last_error.restype = c_char_p
    library.dtape_layout.argtypes = [c_char_p]
    library.dtape_layout.restype = c_int64
    for struct, name in ((Array, "dtape_input"), (ReplayArgs, "dtape_ssm_replay_args")):
        assert library.dtape_layout(name.encode()) == ctypes.sizeof(struct), name
        for field, _ in struct._fields_:
            offset = library.dtape_layout(f"{name}.{field}".encode())
            assert offset == getattr(struct, field).offset, f"{name}.{field}"
    return library


def check(library, status):
    if status != 0:
        raise RuntimeError(library.dtape_last_error().decode())


def floats(values):
    return (c_float * len(values))(*values)


def array(values):
    return Array(ctypes.cast(values, c_void_p), F32, 0)


def replay(library, state, decay, u, v, k):
    device, stream = c_void_p(), c_void_p()
    check(library, library.dtape_device_open(b"cpu", byref(device)))
    check(library, library.dtape_stream_open(device, byref(stream)))
    result = floats([float("nan")] * len(state))
    args = ReplayArgs(
        size=ctypes.sizeof(ReplayArgs),
        batch=1,
        steps=STEPS,
        heads=HEADS,
        groups=1,
        head_dim=HEAD_DIM,
        state_dim=STATE_DIM,
        tape=FACTORED,
        state=array(state),
        decay=array(decay),
        u=array(u),
        v=array(v),
        k=(c_int32 * 1)(k),
        state_out=array(result),
    )
    check(library, library.dtape_ssm_replay(stream, byref(args)))
    check(library, library.dtape_stream_close(stream))
    check(library, library.dtape_device_close(device))
    return list(result)


def expected(state, decay, u, v, k):
    result = list(state)
    for t in range(k):
        for index in range(len(result)):
            row, column = divmod(index, STATE_DIM)
            outer = u[t * HEADS * HEAD_DIM + row] * v[t * STATE_DIM + column]
            result[index] = decay[t * HEADS + row // HEAD_DIM] * result[index] + outer
    return result


def main():
    # Small integers and halves: every product and sum is exact, so equality is the test.
    state = floats([float(i) for i in range(HEADS * HEAD_DIM * STATE_DIM)])
    decay = floats([0.5, 0.25, 0.5, 0.5, 0.0, 0.0])
    u = floats([float(i % 5 - 2) for i in range(STEPS * HEADS * HEAD_DIM)])
    v = floats([float(i % 3 - 1) for i in range(STEPS * STATE_DIM)])
    library = load(sys.argv[1])
    for k in (0, KEPT):
        got = replay(library, state, decay, u, v, k)
        assert got == expected(state, decay, u, v, k), (k, got)
    print(f"deltatape from ctypes: k = 0 and k = {KEPT} exact")


if __name__ == "__main__":
    main()
