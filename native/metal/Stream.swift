// Work in order: what calls encode, when it is committed, and waiting for it.
import DeltatapeMetalHost
import Dispatch
import Metal

/// One kernel to run. The constants follow the buffers in the order of the shader's arguments.
struct Work {
  let variant: Variant
  let buffers: [Binding]
  let constants: [[UInt8]]
  let groups: MTLSize
  /// An estimate of how long the GPU takes, on the slow side.
  let seconds: Double
}

/// A command buffer, and what has to live until it completes.
final class Submission: @unchecked Sendable {
  let commands: any MTLCommandBuffer
  let encoder: any MTLComputeCommandEncoder
  let completed = DispatchSemaphore(value: 0)
  var seconds = 0.0
  var arguments: [Arguments] = []
  private let device: Device

  init(_ device: Device) throws {
    try device.beginSubmission()
    guard let commands = device.queue.makeCommandBuffer(),
      let encoder = commands.makeComputeCommandEncoder()
    else {
      device.endSubmission()
      throw HostError(DTAPE_DEVICE_ERROR, "device: expected a command buffer, got none")
    }
    commands.label = "deltatape"
    encoder.label = "deltatape"
    self.commands = commands
    self.encoder = encoder
    self.device = device
  }

  deinit { device.endSubmission() }

  func commit() {
    encoder.endEncoding()
    commands.addCompletedHandler { @Sendable [completed] _ in completed.signal() }
    commands.commit()
    Counters.shared.add(to: \.command_buffers)
  }

  /// The reason why the command buffer failed, if it did.
  func wait() -> HostError? {
    guard completed.wait(timeout: .now() + Submission.patience) == .success else {
      let sentence = "device: expected an end within \(Submission.patience) s, got none"
      return abandon(HostError(DTAPE_DEVICE_LOST, sentence))
    }
    return commands.status == .completed ? nil : HostError(commands.error)
  }

  /// It may run yet: what it touches is never given back.
  func abandon(_ reason: HostError) -> HostError {
    _ = Unmanaged.passRetained(self)
    return reason
  }

  private static let patience: Double = {
    let seconds = getenv("DELTATAPE_METAL_TIMEOUT").flatMap { Double(String(cString: $0)) }
    return max(seconds ?? 60, 0.001)
  }()
}

final class Stream {
  /// Longer command buffers are killed while a display is in use.
  static let longest = 0.1
  /// More than these, and the next waits for the first.
  private static let mostCommitted = 8

  let device: Device
  private let callers: (any MTLComputeCommandEncoder)?
  private var open: Submission?
  private var committed: [Submission] = []
  private var failure: HostError?
  /// Calls whose results have to be copied back; on a caller's encoder, all calls.
  private var unfinished: [Arguments] = []

  init(_ device: Device) throws {
    try device.check()
    self.device = device
    callers = nil
  }

  init(_ device: Device, encoder: AnyObject) throws {
    try device.check()
    guard let encoder = encoder as? any MTLComputeCommandEncoder,
      encoder.device.registryID == device.gpu.registryID
    else {
      throw HostError(
        DTAPE_INVALID_ARGUMENT,
        "encoder: expected a compute command encoder on \(device.gpu.name), got another object")
    }
    self.device = device
    callers = encoder
  }

  /// Whether commands can be spread over several command buffers.
  var mayCommit: Bool { callers == nil }

  /// Encodes a call: `encode` turns arrays into buffers and passes its work on.
  func call(_ arrays: [dtape_span], _ encode: (Arguments) throws -> Void) throws {
    try device.check()
    // Results that only a wait would bring to where this call looks for them.
    if unfinished.contains(where: { arguments in arrays.contains { arguments.awaits($0) } }) {
      drain()
      if let failure { throw failure }
    }
    let arguments = Arguments(device.memory, inPlace: !mayCommit)
    guard let callers else {
      try encode(arguments)
      if arguments.hasCopies { unfinished.append(arguments) }
      return
    }
    unfinished.append(arguments)
    if callers.dispatchType == .concurrent { callers.memoryBarrier(scope: .buffers) }
    try encode(arguments)
  }

  func run(_ work: Work, _ arguments: Arguments) throws {
    let pipeline = try device.pipelines.pipeline(work.variant)
    let encoder = try callers ?? encoder(for: work, arguments)
    encoder.setComputePipelineState(pipeline)
    for (index, binding) in work.buffers.enumerated() {
      encoder.setBuffer(binding.buffer, offset: binding.offset, index: index)
    }
    for (index, bytes) in work.constants.enumerated() {
      bytes.withUnsafeBytes { bytes in
        guard let start = bytes.baseAddress else { return }
        encoder.setBytes(start, length: bytes.count, index: work.buffers.count + index)
      }
    }
    encoder.dispatchThreadgroups(
      work.groups,
      threadsPerThreadgroup: MTLSize(width: work.variant.threads, height: 1, depth: 1))
    Counters.shared.add(to: \.dispatches)
  }

  private func encoder(
    for work: Work, _ arguments: Arguments
  ) throws -> any MTLComputeCommandEncoder {
    if let open, open.seconds > 0, open.seconds + work.seconds > Stream.longest { commit() }
    let submission = try open ?? Submission(device)
    open = submission
    submission.seconds += work.seconds
    if submission.arguments.last !== arguments { submission.arguments.append(arguments) }
    return submission.encoder
  }

  private func commit() {
    guard let submission = open else { return }
    open = nil
    submission.commit()
    committed.append(submission)
    if committed.count > Stream.mostCommitted { finish(committed.removeFirst()) }
  }

  private func finish(_ submission: Submission) {
    // After a loss nothing completes for sure.
    guard let error = device.loss.map(submission.abandon) ?? submission.wait() else { return }
    if failure == nil { failure = error }
    if error.isLoss { device.lose(error) }
  }

  /// Waits for everything, and copies results back if all of it went well.
  private func drain() {
    commit()
    while !committed.isEmpty { finish(committed.removeFirst()) }
    guard mayCommit else { return }
    if failure == nil {
      for arguments in unfinished { arguments.finish() }
    }
    unfinished = []
  }

  func wait() throws {
    drain()
    defer { failure = nil }
    if let failure { throw failure }
  }
}
