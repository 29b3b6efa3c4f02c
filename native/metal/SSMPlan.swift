// How a step or a replay is spread over dispatches.
import DeltatapeMetalHost

/// Some steps of some sequences, from one array of states to another.
struct SSMPass {
  let sequences: Range<Int>
  let steps: Range<Int>
  let from: SSMStates
  let to: SSMStates
  let seconds: Double

  /// The table that shaders read: for each sequence its state, its state_out, and `last`.
  func table(last: (Int) -> Int32) -> [UInt8] {
    bytes(
      ofTable: sequences.flatMap { sequence in
        let last = last(sequence)
        return last < 0 ? [-1, -1, -1] : [from.index(sequence), to.index(sequence), last]
      })
  }
}

struct SSMPlan {
  /// setBytes takes fewer than 4096 bytes, and a sequence has 12 in the table.
  static let mostInTable = 4095 / 12
  private static let mostInGrid = 65535

  /// Groups of sequences, each in one dispatch.
  let groups: [Range<Int>]
  /// Pieces of the steps, each short enough for a command buffer.
  let pieces: [Range<Int>]
  private let cost: SSMCost

  init(batch: Int, steps: Int, cost: SSMCost, table: Bool, mayCommit: Bool) {
    self.cost = cost
    let most = mayCommit ? max(cost.steps(within: Stream.longest), 1) : Int.max
    pieces =
      steps <= most
      ? [0..<steps]
      : stride(from: 0, to: steps, by: most).map { $0..<min($0 + most, steps) }
    let longest = pieces.map(\.count).max() ?? 0
    let affordable = mayCommit ? cost.sequences(longest, within: Stream.longest) : Int.max
    let width = min(affordable, table ? SSMPlan.mostInTable : SSMPlan.mostInGrid)
    groups = stride(from: 0, to: batch, by: width).map { $0..<min($0 + width, batch) }
  }

  func pass(
    _ sequences: Range<Int>, _ steps: Range<Int>, from: SSMStates, to: SSMStates
  ) -> SSMPass {
    SSMPass(
      sequences: sequences, steps: steps, from: from, to: to,
      seconds: cost.seconds(steps.count, sequences.count))
  }

  /// The pieces of a group in order. Between them the states are in f32, so that bytes do not
  /// depend on where the pieces end.
  func passes(
    _ sequences: Range<Int>, from: SSMStates, to: SSMStates, shape: SSMShape,
    _ arguments: Arguments
  ) throws -> [SSMPass] {
    guard pieces.count > 1 else { return [pass(sequences, pieces[0], from: from, to: to)] }
    let carried = try SSMStates.carried(shape, sequences, arguments)
    return pieces.enumerated().map { number, steps in
      pass(
        sequences, steps, from: number == 0 ? from : carried,
        to: number == pieces.count - 1 ? to : carried)
    }
  }
}

/// Rough costs on the slowest GPU that is supported.
struct SSMCost {
  let elements: Int
  /// Columns that all cores together advance in a second.
  let rate: Double
  /// Of one step, however small.
  private static let latency = 2e-6

  static func arithmetic(_ shape: SSMShape) -> SSMCost {
    SSMCost(elements: shape.stateElements, rate: 1e11)
  }

  /// Every column of every step moves through memory.
  static func traffic(_ shape: SSMShape) -> SSMCost {
    SSMCost(elements: shape.stateElements, rate: 1e10)
  }

  private func step(_ sequences: Int) -> Double {
    max(SSMCost.latency, Double(elements) * Double(sequences) / rate)
  }

  func seconds(_ steps: Int, _ sequences: Int) -> Double {
    step(sequences) * Double(max(steps, 1))
  }

  func steps(within seconds: Double) -> Int { Int(seconds / step(1)) }

  func sequences(_ steps: Int, within seconds: Double) -> Int {
    let most = seconds * rate / Double(max(elements, 1)) / Double(max(steps, 1))
    return max(Int(min(most, 1e9)), 1)
  }
}
