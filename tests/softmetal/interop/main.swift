// Each scenario prints its name once it holds; the first that does not ends the program.
import Deltatape
import Metal

func opaque(_ object: any NSObjectProtocol) -> UnsafeMutableRawPointer {
  Unmanaged.passUnretained(object as AnyObject).toOpaque()
}

func expect(_ holds: Bool, _ words: String) throws {
  if !holds { throw Failure(words) }
}

func expectRefusal(_ status: dtape_status, _ start: String) throws {
  let sentence = String(cString: dtape_last_error())
  try expect(
    status == DTAPE_INVALID_ARGUMENT.rawValue && sentence.hasPrefix(start),
    "status \(status), \(sentence)")
}

struct Scenarios {
  let app: App
  let device: OpaquePointer

  /// The app's kernel, a rollback and the app's kernel again, in one encoder of the app.
  func encodeBetween(_ type: MTLDispatchType) throws {
    let buffers = try [Rollback.state, Rollback.decay, Rollback.scale, Rollback.u, Rollback.v].map(
      app.buffer)
    for buffer in buffers { try check(dtape_metal_adopt(device, opaque(buffer))) }
    let pointers = buffers.map { $0.contents() }
    let rollback = Rollback(
      state: pointers[0], decay: pointers[1], scale: pointers[2], u: pointers[3], v: pointers[4])
    let before = try counters(device)

    try app.run(type) { encoder in
      app.multiply(buffers[3], by: 2, encoder)
      var stream: OpaquePointer?
      try check(dtape_metal_stream_open(device, opaque(encoder), &stream))
      guard let stream else { throw Failure("no stream") }
      try check(rollback.enqueue(stream))
      try check(dtape_stream_wait(stream))
      try expect(contents(buffers[0]) == Rollback.state, "the rollback ran before it was committed")
      try check(dtape_stream_close(stream))
      if type == .concurrent { encoder.memoryBarrier(scope: .buffers) }
      app.multiply(buffers[0], by: 3, encoder)
    }

    let after = try counters(device)
    try expect(contents(buffers[0]) == Rollback.expected(), "other numbers than cpu's")
    try expect(after.dispatches == before.dispatches + 1, "\(after.dispatches) dispatches")
    try expect(after.command_buffers == before.command_buffers, "a command buffer was committed")
    try expect(after.bytes_copied == before.bytes_copied, "bytes were copied")
    try expect(after.bytes_wrapped == before.bytes_wrapped, "bytes were wrapped")
    for buffer in buffers { try check(dtape_metal_release(device, opaque(buffer))) }
  }

  func refuseForeignMemory() throws {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 4096, alignment: 16)
    defer { memory.deallocate() }
    try app.run(.serial) { encoder in
      var stream: OpaquePointer?
      try check(dtape_metal_stream_open(device, opaque(encoder), &stream))
      guard let stream else { throw Failure("no stream") }
      let rollback = Rollback(
        state: memory, decay: memory + 1024, scale: memory + 1100, u: memory + 2048,
        v: memory + 3072)
      try expectRefusal(rollback.enqueue(stream), "[ssm_replay] state: expected memory of")
      try check(dtape_stream_close(stream))
    }
  }

  func refuseOtherObjects() throws {
    let buffer = try app.buffer([1, 2, 3])
    var stream: OpaquePointer?
    try expectRefusal(
      dtape_metal_stream_open(device, opaque(buffer), &stream),
      "[metal_stream_open] encoder: expected a compute command encoder")
    try expectRefusal(
      dtape_metal_adopt(device, opaque(app.queue)), "[metal_adopt] buffer: expected an MTLBuffer")
    try expectRefusal(
      dtape_metal_release(device, opaque(buffer)), "[metal_release] buffer: expected one that")
    let cpu = try open("cpu")
    try expectRefusal(
      dtape_metal_adopt(cpu, opaque(buffer)), "[metal_adopt] device: expected metal, got cpu")
    try check(dtape_device_close(cpu))
  }

  func adoptOnce() throws {
    let buffer = try app.buffer([1, 2, 3])
    try check(dtape_metal_adopt(device, opaque(buffer)))
    try expectRefusal(
      dtape_metal_adopt(device, opaque(buffer)), "[metal_adopt] buffer: expected memory that")
    try check(dtape_metal_release(device, opaque(buffer)))
    guard let hidden = app.device.makeBuffer(length: 64, options: .storageModePrivate) else {
      throw Failure("no buffer")
    }
    try expectRefusal(
      dtape_metal_adopt(device, opaque(hidden)), "[metal_adopt] buffer: expected shared storage")
  }

  /// Work that is enqueued keeps a buffer that was released, also on the library's own streams.
  func releaseEarly() throws {
    var stream: OpaquePointer?
    try check(dtape_stream_open(device, &stream))
    guard let stream else { throw Failure("no stream") }
    let arrays = [Rollback.state, Rollback.decay, Rollback.scale, Rollback.u.map { $0 * 2 }]
    let buffers = try (arrays + [Rollback.v]).map(app.buffer)
    for buffer in buffers { try check(dtape_metal_adopt(device, opaque(buffer))) }
    let pointers = buffers.map { $0.contents() }
    let rollback = Rollback(
      state: pointers[0], decay: pointers[1], scale: pointers[2], u: pointers[3], v: pointers[4])
    try check(rollback.enqueue(stream))
    for buffer in buffers { try check(dtape_metal_release(device, opaque(buffer))) }
    try check(dtape_stream_close(stream))
    try expect(
      contents(buffers[0]).map { $0 * 3 } == Rollback.expected(), "other numbers than cpu's")
  }
}

do {
  let scenarios = Scenarios(app: try App(), device: try open("metal"))
  for (name, scenario) in [
    ("serial encoder", { try scenarios.encodeBetween(.serial) }),
    ("concurrent encoder", { try scenarios.encodeBetween(.concurrent) }),
    ("foreign memory", scenarios.refuseForeignMemory),
    ("other objects", scenarios.refuseOtherObjects),
    ("adopted once", scenarios.adoptOnce),
    ("released early", scenarios.releaseEarly),
  ] as [(String, () throws -> Void)] {
    try scenario()
    print(name)
  }
  try check(dtape_device_close(scenarios.device))
  print("closed")
} catch {
  print("failed: \(error)")
  exit(1)
}
