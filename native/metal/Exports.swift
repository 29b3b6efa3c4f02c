// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The functions behind dtape_metal_host and deltatape_metal.h.
import DeltatapeMetalHost
import Metal

private func object<T: AnyObject>(_ pointer: UnsafeMutableRawPointer, _ type: T.Type) -> T {
  Unmanaged<T>.fromOpaque(pointer).takeUnretainedValue()
}

private func device(_ pointer: UnsafeMutableRawPointer) -> Device { object(pointer, Device.self) }
private func stream(_ pointer: UnsafeMutableRawPointer) -> Stream { object(pointer, Stream.self) }

private func handle<T: AnyObject>(_ object: T) -> UnsafeMutableRawPointer {
  Unmanaged.passRetained(object).toOpaque()
}

// MARK: - Devices

@c @implementation
public func metal_host_open(
  _ pointer: UnsafeMutablePointer<UnsafeMutableRawPointer?>
) -> dtape_status {
  reporting { pointer.pointee = handle(try Device.open()) }
}

@c @implementation
public func metal_host_close(_ pointer: UnsafeMutableRawPointer) {
  autoreleasepool {
    device(pointer).close()
    Unmanaged<Device>.fromOpaque(pointer).release()
  }
}

@c @implementation
public func metal_host_describe(
  _ pointer: UnsafeMutableRawPointer, _ info: UnsafeMutablePointer<dtape_device_info>
) -> dtape_status {
  reporting {
    fill(&info.pointee.name, "metal")
    fill(&info.pointee.path, "metal 3.1")
    fill(&info.pointee.hardware, device(pointer).gpu.name)
  }
}

/// A char array of a C struct, which Swift sees as a tuple.
private func fill<T>(_ array: inout T, _ text: String) {
  withUnsafeMutableBytes(of: &array) { bytes in
    let fitting = text.utf8.prefix(bytes.count - 1)
    bytes.copyBytes(from: fitting)
    bytes[fitting.count] = 0
  }
}

@c @implementation
public func metal_host_counters(
  _ pointer: UnsafeMutableRawPointer, _ counters: UnsafeMutablePointer<dtape_counters>
) -> dtape_status {
  reporting {
    let size = counters.pointee.size
    counters.pointee = Counters.shared.read()
    counters.pointee.size = size
  }
}

// MARK: - Memory

@c @implementation
public func metal_host_alloc(
  _ pointer: UnsafeMutableRawPointer, _ bytes: UInt64,
  _ memory: UnsafeMutablePointer<UnsafeMutableRawPointer?>
) -> dtape_status {
  reporting { memory.pointee = try device(pointer).memory.allocate(bytes) }
}

@c @implementation
public func metal_host_free(
  _ pointer: UnsafeMutableRawPointer, _ memory: UnsafeMutableRawPointer
) -> dtape_status {
  reporting { try device(pointer).memory.free(memory) }
}

@c @implementation
public func metal_host_adopt_buffer(
  _ pointer: UnsafeMutableRawPointer, _ buffer: UnsafeMutableRawPointer
) -> dtape_status {
  reporting { try device(pointer).memory.adopt(object(buffer, AnyObject.self)) }
}

@c @implementation
public func metal_host_release_buffer(
  _ pointer: UnsafeMutableRawPointer, _ buffer: UnsafeMutableRawPointer
) -> dtape_status {
  reporting { try device(pointer).memory.release(object(buffer, AnyObject.self)) }
}

// MARK: - Streams

@c @implementation
public func metal_host_stream_open_own(
  _ pointer: UnsafeMutableRawPointer, _ result: UnsafeMutablePointer<UnsafeMutableRawPointer?>
) -> dtape_status {
  reporting { result.pointee = handle(try Stream(device(pointer))) }
}

@c @implementation
public func metal_host_stream_open_encoder(
  _ pointer: UnsafeMutableRawPointer, _ encoder: UnsafeMutableRawPointer,
  _ result: UnsafeMutablePointer<UnsafeMutableRawPointer?>
) -> dtape_status {
  reporting {
    let encoder = object(encoder, AnyObject.self)
    result.pointee = handle(try Stream(device(pointer), encoder: encoder))
  }
}

@c @implementation
public func metal_host_stream_wait(_ pointer: UnsafeMutableRawPointer) -> dtape_status {
  reporting { try stream(pointer).wait() }
}

@c @implementation
public func metal_host_stream_close(_ pointer: UnsafeMutableRawPointer) {
  autoreleasepool { Unmanaged<Stream>.fromOpaque(pointer).release() }
}

// MARK: - Kernels

@c @implementation
public func metal_host_ssm_step_record(
  _ pointer: UnsafeMutableRawPointer, _ request: UnsafePointer<dtape_ssm_step_record_request>
) -> dtape_status {
  reporting { try SSMStepRecord(request.pointee).run(on: stream(pointer)) }
}

@c @implementation
public func metal_host_ssm_replay(
  _ pointer: UnsafeMutableRawPointer, _ request: UnsafePointer<dtape_ssm_replay_request>
) -> dtape_status {
  reporting { try SSMReplay(request.pointee).run(on: stream(pointer)) }
}

@c @implementation
public func metal_host_chunk_tri_solve_invert(
  _ pointer: UnsafeMutableRawPointer,
  _ request: UnsafePointer<dtape_chunk_tri_solve_invert_request>
) -> dtape_status {
  reporting { try ChunkTriSolveInvert(request.pointee).run(on: stream(pointer)) }
}
