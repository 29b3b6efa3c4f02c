// What steps and replays share: dimensions, launch geometry, and where each sequence's state lies.
import DeltatapeMetalHost
import Metal

struct SSMShape {
  let batch: Int
  let steps: Int
  let heads: Int
  let groups: Int
  let headDim: Int
  let stateDim: Int

  /// Of one sequence's state.
  var stateElements: Int { heads * headDim * stateDim }

  /// Dimensions that the kernels can count: rows and steps in 32 bits, columns in registers.
  init(_ shape: dtape_ssm_shape) throws {
    batch = Int(shape.batch)
    steps = Int(shape.steps)
    heads = Int(shape.heads)
    groups = Int(shape.groups)
    headDim = Int(shape.head_dim)
    stateDim = Int(shape.state_dim)
    try SSMShape.judge("state_dim", stateDim, 1024)
    try SSMShape.judge("batch", batch, Int(Int32.max))
    try SSMShape.judge("steps", steps, Int(Int32.max))
    // A group of 8 steps is indexed in 32 bits.
    let most = Int(UInt32.max) / SSMGeometry.mostSteps
    try SSMShape.judge("heads", heads, most)
    try SSMShape.judge("heads * head_dim", heads * headDim, most)
    try SSMShape.judge("groups * state_dim", groups * stateDim, most)
  }

  private static func judge(_ name: String, _ value: Int, _ most: Int) throws {
    guard value > most else { return }
    throw HostError(DTAPE_NOT_OFFERED, "\(name): expected at most \(most) on metal, got \(value)")
  }

  func parameters(_ pass: SSMPass) -> [UInt8] {
    bytes(
      of: ssm_params(
        state_stride: UInt(pass.from.stride), state_out_stride: UInt(pass.to.stride),
        first: UInt32(pass.sequences.lowerBound), begin: UInt32(pass.steps.lowerBound),
        end: UInt32(pass.steps.upperBound), steps: UInt32(steps), heads: UInt32(heads),
        groups: UInt32(groups), rows: UInt32(headDim),
        sharing: UInt32(heads / max(groups, 1))))
  }
}

extension dtape_ssm_shape {
  func isSkipped(_ sequence: Int) -> Bool { slots.map { $0[sequence] < 0 } ?? false }
  func hasInitial(_ sequence: Int) -> Bool { has_initial.map { $0[sequence] != 0 } ?? true }
}

func bytes<T: BitwiseCopyable>(of value: T) -> [UInt8] {
  withUnsafeBytes(of: value) { [UInt8]($0) }
}

func bytes(ofTable numbers: [Int32]) -> [UInt8] {
  numbers.withUnsafeBytes { [UInt8]($0) }
}

// MARK: - Geometry

/// How lanes share a state: it follows from the shape, and y's bytes from it.
struct SSMGeometry {
  static let mostSteps = 8
  let stateDim: Int
  let threads: Int
  let lanes: Int
  let rows: Int

  /// `sharing`: rows of a lane that share each load of b, c or v.
  init(stateDim: Int, threads: Int, mostLanes: Int, sharing: Int) {
    self.stateDim = stateDim
    self.threads = threads
    let quads = max((stateDim + 3) / 4, 1)
    var lanes = 1
    while lanes < min(quads, mostLanes) { lanes *= 2 }
    self.lanes = lanes
    // Registers for at most 32 columns, and at most 256 rows in threadgroup memory.
    let vectors = (quads + lanes - 1) / lanes
    let fit = vectors <= 2 ? 4 : vectors <= 4 ? 2 : 1
    rows = min(sharing, fit, max(256 * lanes / threads, 1))
  }

  /// Of rows that share: 16 lanes each, 32 where a row is too long for their registers.
  init(stateDim: Int, threads: Int, sharing: Int) {
    self.init(
      stateDim: stateDim, threads: threads, mostLanes: stateDim > 128 ? 32 : 16, sharing: sharing)
  }

  /// Steps whose columns and rows lie in threadgroup memory at once: at most 4 KiB an array.
  var chunk: Int {
    let padded = max((stateDim + 4 * lanes - 1) / (4 * lanes), 1) * 4 * lanes
    return min(max(1024 / max(padded, tile), 1), SSMGeometry.mostSteps)
  }

  /// Rows of a threadgroup.
  private var tile: Int { threads / lanes * rows }

  func groups(_ shape: SSMShape, _ sequences: Range<Int>) -> MTLSize {
    MTLSize(
      width: shape.heads, height: max((shape.headDim + tile - 1) / tile, 1),
      depth: sequences.count)
  }

  func macros(_ from: SSMStates, _ to: SSMStates, aligned: Bool) -> [String: String] {
    let whole = stateDim % 4 == 0 && stateDim > 0
    return [
      "DS": "\(stateDim)", "LANES": "\(lanes)", "ROWS": "\(rows)",
      "STATE_IN": from.type, "STATE_OUT": to.type,
      "ALIGNED": flag(aligned && whole && from.isAligned && to.isAligned),
    ]
  }
}

func flag(_ value: Bool) -> String { value ? "1" : "0" }
