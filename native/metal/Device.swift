// The GPU that this process uses: one context, however often it is opened.
import DeltatapeMetalHost
import Metal

final class Device: @unchecked Sendable {
  let gpu: any MTLDevice
  let queue: any MTLCommandQueue
  let pipelines: Pipelines
  let memory: Memory
  /// Command buffers that the queue holds at once. Making one more would block.
  static let commandBuffers = 1024
  private let lock = NSLock()
  private var firstLoss: HostError?
  private var submissions = 0

  private init() throws {
    gpu = try Device.supported()
    guard let queue = gpu.makeCommandQueue(maxCommandBufferCount: Device.commandBuffers) else {
      throw HostError(DTAPE_DEVICE_ERROR, "device: expected a command queue, got none")
    }
    queue.label = "deltatape"
    self.queue = queue
    pipelines = Pipelines(gpu)
    memory = try Memory(gpu)
  }

  /// Either call may find a GPU that the other misses.
  private static func supported() throws -> any MTLDevice {
    let found = [MTLCreateSystemDefaultDevice()].compactMap { $0 } + MTLCopyAllDevices()
    let fit = found.first { $0.supportsFamily(.apple7) && $0.hasUnifiedMemory }
    if let fit { return fit }
    let names = found.isEmpty ? "none" : found.map(\.name).joined(separator: ", ")
    throw HostError(
      DTAPE_DEVICE_UNAVAILABLE,
      "device: expected an Apple GPU of family Apple7 or later with unified memory, got \(names)")
  }

  /// Once a GPU is lost, everything fails with the first reason.
  var loss: HostError? { lock.withLock { firstLoss } }

  func check() throws {
    if let loss { throw loss }
  }

  func lose(_ reason: HostError) {
    lock.withLock { if firstLoss == nil { firstLoss = reason } }
  }

  /// Counts command buffers that have not completed.
  func beginSubmission() throws {
    try check()
    try lock.withLock {
      guard submissions < Device.commandBuffers else {
        throw HostError(
          DTAPE_DEVICE_ERROR,
          "stream: expected at most \(submissions) streams with work to wait for, got one more")
      }
      submissions += 1
    }
  }

  func endSubmission() { lock.withLock { submissions -= 1 } }
}

// MARK: - Opening

extension Device {
  private final class Shared: @unchecked Sendable {
    let lock = NSLock()
    var device: Device?
    var openings = 0
  }

  private static let shared = Shared()

  static func open() throws -> Device {
    try shared.lock.withLock {
      if shared.openings == 0, shared.device?.loss != nil { shared.device = nil }
      let device = try shared.device ?? Device()
      try device.check()
      shared.device = device
      shared.openings += 1
      return device
    }
  }

  /// The context stays for the next opening: its pipelines took time to compile.
  func close() {
    Device.shared.lock.withLock { Device.shared.openings -= 1 }
  }
}

// MARK: - Counters

/// Counted for the life of the process.
final class Counters: @unchecked Sendable {
  static let shared = Counters()
  private let lock = NSLock()
  private var values = dtape_counters()

  func add(_ amount: Int = 1, to counter: WritableKeyPath<dtape_counters, UInt64>) {
    lock.withLock { values[keyPath: counter] &+= UInt64(clamping: amount) }
  }

  func read() -> dtape_counters { lock.withLock { values } }
}
