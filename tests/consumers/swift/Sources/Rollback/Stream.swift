import CDeltatape

struct DeltatapeError: Error {
  let name: String
  let sentence: String
}

/// Work on one device, in order.
final class Stream {
  private var device: OpaquePointer?
  private var stream: OpaquePointer?

  init(device name: String) throws {
    try check(dtape_device_open(name, &device))
    try check(dtape_stream_open(device, &stream))
  }

  deinit {
    dtape_stream_close(stream)
    dtape_device_close(device)
  }

  func wait() throws { try check(dtape_stream_wait(stream)) }

  func replay(_ args: dtape_ssm_replay_args) throws {
    var args = args
    args.size = UInt64(MemoryLayout<dtape_ssm_replay_args>.size)
    try check(dtape_ssm_replay(stream, &args))
  }
}

private func check(_ status: dtape_status) throws {
  guard status != DTAPE_OK.rawValue else { return }
  throw DeltatapeError(
    name: String(cString: dtape_status_name(status)),
    sentence: String(cString: dtape_last_error()))
}

extension dtape_input {
  init(_ values: UnsafeMutablePointer<Float>) {
    self.init(data: values, dtype: Int32(DTAPE_F32.rawValue), reserved: 0)
  }
}

extension dtape_output {
  init(_ values: UnsafeMutablePointer<Float>) {
    self.init(data: values, dtype: Int32(DTAPE_F32.rawValue), reserved: 0)
  }
}
