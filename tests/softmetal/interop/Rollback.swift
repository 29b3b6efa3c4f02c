// A rollback through the C interface, on whatever memory and stream.
import Deltatape

func check(_ status: dtape_status) throws {
  if status != DTAPE_OK.rawValue { throw Failure(String(cString: dtape_last_error())) }
}

/// B 2, T 3, H 1, G 1, Dh 2, Ds 4.
struct Rollback {
  static let k: [Int32] = [3, 2]
  static let state = (0..<16).map { Float($0) - 7.5 }
  static let decay: [Float] = [0.5, 0.25, 0.75, 0.9, 0.8, 0.7]
  static let scale: [Float] = [1, 0, 2, 0.5, 1, 3]
  static let u = (0..<12).map { Float($0) * 0.25 - 1 }
  static let v = (0..<24).map { Float($0 % 5) - 2 }

  var state: UnsafeMutableRawPointer
  var decay: UnsafeMutableRawPointer
  var scale: UnsafeMutableRawPointer
  var u: UnsafeMutableRawPointer
  var v: UnsafeMutableRawPointer

  func enqueue(_ stream: OpaquePointer) -> dtape_status {
    func input(_ data: UnsafeMutableRawPointer) -> dtape_input {
      dtape_input(data: data, dtype: Int32(DTAPE_F32.rawValue), reserved: 0)
    }
    var args = dtape_ssm_replay_args()
    args.size = UInt64(MemoryLayout<dtape_ssm_replay_args>.size)
    (args.batch, args.steps, args.heads, args.groups) = (2, 3, 1, 1)
    (args.head_dim, args.state_dim) = (2, 4)
    args.tape = Int32(DTAPE_TAPE_FACTORED.rawValue)
    args.state = input(state)
    args.decay = input(decay)
    args.scale = input(scale)
    args.u = input(u)
    args.v = input(v)
    args.state_out = dtape_output(data: state, dtype: Int32(DTAPE_F32.rawValue), reserved: 0)
    return Rollback.k.withUnsafeBufferPointer { k in
      args.k = k.baseAddress
      return dtape_ssm_replay(stream, &args)
    }
  }

  /// What the device cpu makes of it, u doubled before and the result tripled after.
  static func expected() throws -> [Float] {
    let device = try open("cpu")
    var stream: OpaquePointer?
    try check(dtape_stream_open(device, &stream))
    guard let stream else { throw Failure("no stream") }
    var arrays = [Rollback.state, decay, scale, u.map { $0 * 2 }, v]
    let pointers = arrays.indices.map { index in
      arrays[index].withUnsafeMutableBytes { bytes in
        let copy = UnsafeMutableRawPointer.allocate(byteCount: bytes.count, alignment: 16)
        copy.copyMemory(from: UnsafeRawPointer(bytes.baseAddress ?? copy), byteCount: bytes.count)
        return copy
      }
    }
    defer { for pointer in pointers { pointer.deallocate() } }
    let rollback = Rollback(
      state: pointers[0], decay: pointers[1], scale: pointers[2], u: pointers[3], v: pointers[4])
    try check(rollback.enqueue(stream))
    try check(dtape_stream_close(stream))
    try check(dtape_device_close(device))
    let result = pointers[0].assumingMemoryBound(to: Float.self)
    return UnsafeBufferPointer(start: result, count: 16).map { $0 * 3 }
  }
}

func open(_ name: String) throws -> OpaquePointer {
  var device: OpaquePointer?
  try check(dtape_device_open(name, &device))
  guard let device else { throw Failure("no device") }
  return device
}

func counters(_ device: OpaquePointer) throws -> dtape_counters {
  var counters = dtape_counters()
  counters.size = UInt64(MemoryLayout<dtape_counters>.size)
  try check(dtape_device_counters(device, &counters))
  return counters
}
