// The rollback: a request, its bindings and its dispatches.
import DeltatapeMetalHost
import Metal

struct SSMReplay {
  private let shape: SSMShape
  private let request: dtape_ssm_replay_request
  private let k: [Int32]
  private var isDense: Bool { request.shape.tape == Int32(DTAPE_TAPE_DENSE.rawValue) }
  private var hasColumns: Bool { request.shape.tape == Int32(DTAPE_TAPE_COLUMNS.rawValue) }

  /// -1 for sequences that are to be left alone.
  init(_ request: dtape_ssm_replay_request) throws {
    self.request = request
    let shape = try SSMShape(request.shape)
    self.shape = shape
    k = (0..<shape.batch).map { sequence in
      request.shape.isSkipped(sequence) ? -1 : request.shape.k?[sequence] ?? 0
    }
  }

  func run(on stream: Stream) throws {
    guard shape.batch > 0, shape.stateElements > 0 else { return }
    let r = request
    let arrays = [r.state, r.decay, r.scale, r.u, r.v, r.da_log, r.dbx_log, r.mask, r.state_out]
    try stream.call(arrays) { arguments in
      let from = try SSMStates.read(r.state, r.shape, shape, arguments, has: r.shape.hasInitial)
      let to = try SSMStates.write(r.state_out, r.shape, shape, arguments)
      let buffers = try isDense ? denseTape(arguments) : factoredTape(arguments)
      try run(on: stream, arguments, from, to, buffers)
    }
  }

  private func run(
    on stream: Stream, _ arguments: Arguments, _ from: SSMStates, _ to: SSMStates,
    _ tape: [Binding]
  ) throws {
    let plan = SSMPlan(
      batch: shape.batch, steps: max(Int(k.max() ?? 0), 0),
      cost: isDense ? .traffic(shape) : .arithmetic(shape), table: true,
      mayCommit: stream.mayCommit)
    let first = plan.pieces[0]
    for sequences in plan.groups {
      // Short ones go straight from the state to its result: k = 0 copies the bits.
      let short = plan.pass(sequences, first, from: from, to: to)
      try stream.run(work(short, tape) { k[$0] <= first.upperBound ? k[$0] : -1 }, arguments)
      guard plan.pieces.count > 1 else { continue }
      for pass in try plan.passes(sequences, from: from, to: to, shape: shape, arguments) {
        try stream.run(work(pass, tape) { k[$0] > first.upperBound ? k[$0] : -1 }, arguments)
      }
    }
  }

  private func factoredTape(_ arguments: Arguments) throws -> [Binding] {
    [
      try arguments.read(request.decay, "decay"), try arguments.read(request.u, "u"),
      try arguments.read(request.v, "v"), try arguments.read(request.scale, "scale"),
      try arguments.read(request.mask, "mask"),
    ]
  }

  private func denseTape(_ arguments: Arguments) throws -> [Binding] {
    [
      try arguments.read(request.da_log, "da_log"), try arguments.read(request.dbx_log, "dbx_log"),
      try arguments.read(request.mask, "mask"),
    ]
  }

  private func work(_ pass: SSMPass, _ tape: [Binding], last: (Int) -> Int32) -> Work {
    let geometry =
      isDense
      ? SSMGeometry(stateDim: shape.stateDim, threads: 128, mostLanes: 32, sharing: 1)
      : SSMGeometry(stateDim: shape.stateDim, threads: 256, sharing: 4)
    return Work(
      variant: isDense ? denseVariant(geometry, pass) : factoredVariant(geometry, pass),
      buffers: [pass.from.binding, pass.to.binding] + tape,
      constants: [shape.parameters(pass), pass.table(last: last)],
      groups: geometry.groups(shape, pass.sequences), seconds: pass.seconds)
  }

  private func factoredVariant(_ geometry: SSMGeometry, _ pass: SSMPass) -> Variant {
    let aligned = request.v.isAligned && (!hasColumns || request.decay.isAligned)
    var macros = geometry.macros(pass.from, pass.to, aligned: aligned)
    macros["CHUNK"] = "\(geometry.chunk)"
    macros["COLUMNS"] = flag(hasColumns)
    macros["SCALED"] = flag(request.scale.isPresent)
    macros["U_TYPE"] = request.u.type
    macros["V_TYPE"] = request.v.type
    macros.merge(maskMacros(request.mask)) { _, new in new }
    return Variant("ssm_replay", threads: geometry.threads, macros)
  }

  private func denseVariant(_ geometry: SSMGeometry, _ pass: SSMPass) -> Variant {
    let aligned = request.da_log.isAligned && request.dbx_log.isAligned
    var macros = geometry.macros(pass.from, pass.to, aligned: aligned)
    macros["DBX_TYPE"] = request.dbx_log.type
    macros.merge(maskMacros(request.mask)) { _, new in new }
    return Variant("ssm_replay_dense", threads: geometry.threads, macros)
  }
}

func maskMacros(_ mask: dtape_span) -> [String: String] {
  ["MASKED": flag(mask.isPresent), "MASK_TYPE": mask.isPresent ? mask.type : "uchar"]
}
