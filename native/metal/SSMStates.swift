// The states of a call's sequences: in place, through pages, or staged.
import DeltatapeMetalHost
import Metal

/// States in a buffer, `stride` elements apart, and which of them each sequence has (-1 = none).
struct SSMStates {
  let binding: Binding
  let type: String
  let stride: Int
  let isAligned: Bool
  private let indices: [Int32]
  private let first: Int

  private init(
    _ binding: Binding, _ type: String, stride: Int, indices: [Int32], first: Int = 0,
    aligned: Bool = true
  ) {
    self.binding = binding
    self.type = type
    self.stride = stride
    self.indices = indices
    self.first = first
    isAligned = aligned && stride % 4 == 0
  }

  func index(_ sequence: Int) -> Int32 { indices[sequence - first] }

  /// Sequence b has state b, so that no table is needed.
  var isIdentity: Bool { first == 0 && indices.enumerated().allSatisfy { $0 == Int($1) } }

  /// No sequence has a state.
  static func none(_ shape: SSMShape, type: String, _ memory: Memory) -> SSMStates {
    let indices = [Int32](repeating: -1, count: shape.batch)
    return SSMStates(memory.nothing, type, stride: shape.stateElements, indices: indices)
  }

  /// Scratch in f32 for a group of sequences, between pieces of its steps.
  static func carried(
    _ shape: SSMShape, _ sequences: Range<Int>, _ arguments: Arguments
  ) throws -> SSMStates {
    let bytes = sequences.count * shape.stateElements * MemoryLayout<Float>.size
    return SSMStates(
      try arguments.scratch(bytes).binding, "float", stride: shape.stateElements,
      indices: sequences.indices.map { Int32($0 - sequences.lowerBound) },
      first: sequences.lowerBound)
  }

  /// The states of each sequence that `has` one, to be read.
  static func read(
    _ span: dtape_span, _ request: dtape_ssm_shape, _ shape: SSMShape, _ arguments: Arguments,
    has: (Int) -> Bool
  ) throws -> SSMStates {
    let rows = SSMRows(span, request, shape, stride: Int(request.state_stride), has: has)
    if rows.used.isEmpty { return none(shape, type: span.type, arguments.memory) }
    if let own = arguments.own(span) { return rows.inPlace(own) }
    try arguments.refuseForeign("state")
    if let pages = rows.wrapped(arguments) { return pages }
    let staged = try rows.staged(arguments)
    for (place, index) in rows.used.enumerated() {
      arguments.copy(
        rows.address(index), to: staged.contents + place * rows.bytes, rows.bytes)
    }
    return staged.states
  }

  /// The same, to be written.
  static func write(
    _ span: dtape_span, _ request: dtape_ssm_shape, _ shape: SSMShape, _ arguments: Arguments
  ) throws -> SSMStates {
    let rows = SSMRows(span, request, shape, stride: Int(request.state_out_stride)) { _ in true }
    if rows.used.isEmpty { return none(shape, type: span.type, arguments.memory) }
    if let own = arguments.own(span) { return rows.inPlace(own) }
    try arguments.refuseForeign("state_out")
    let staged = try rows.staged(arguments)
    for (place, index) in rows.used.enumerated() {
      arguments.copyBack(
        from: staged.contents + place * rows.bytes, to: rows.address(index), rows.bytes)
    }
    return staged.states
  }

  /// The caller's states that a call uses.
  private struct SSMRows {
    let span: dtape_span
    let stride: Int
    let packed: Int
    let indices: [Int32]
    /// Those indices that are not -1.
    let used: [Int32]

    init(
      _ span: dtape_span, _ request: dtape_ssm_shape, _ shape: SSMShape, stride: Int,
      has: (Int) -> Bool
    ) {
      self.span = span
      self.stride = stride
      packed = shape.stateElements
      let none = span.isEmpty || packed == 0
      indices = (0..<shape.batch).map { none || !has($0) ? -1 : request.slots?[$0] ?? Int32($0) }
      used = indices.filter { $0 >= 0 }
    }

    var bytes: Int { packed * span.elementBytes }

    func address(_ index: Int32) -> UInt {
      span.address + UInt(Int(index) * stride * span.elementBytes)
    }

    func inPlace(_ binding: Binding) -> SSMStates {
      SSMStates(binding, span.type, stride: stride, indices: indices, aligned: span.isAligned)
    }

    /// Through the pages from the first state that is used to the last.
    func wrapped(_ arguments: Arguments) -> SSMStates? {
      guard let low = used.min(), let high = used.max() else { return nil }
      let part = dtape_span(
        data: UnsafeMutableRawPointer(bitPattern: address(low)),
        bytes: Int64(Int(high - low) * stride * span.elementBytes + bytes), dtype: span.dtype,
        reserved: 0)
      return arguments.wrap(part, counting: used.count * bytes).map {
        SSMStates(
          $0, span.type, stride: stride, indices: indices.map { $0 < 0 ? -1 : $0 - low },
          aligned: part.isAligned)
      }
    }

    /// Only the states that are used, packed in the order of the sequences.
    func staged(
      _ arguments: Arguments
    ) throws -> (states: SSMStates, contents: UnsafeMutableRawPointer) {
      let (binding, contents) = try arguments.scratch(used.count * bytes)
      var places = Int32(0)..<Int32(used.count)
      let indices = indices.map { $0 < 0 ? -1 : places.popFirst() ?? -1 }
      return (SSMStates(binding, span.type, stride: packed, indices: indices), contents)
    }
  }
}
