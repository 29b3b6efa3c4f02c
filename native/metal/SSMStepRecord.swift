// Steps and their tape: a request, its bindings and its dispatches.
import DeltatapeMetalHost
import Metal

struct SSMStepRecord {
  private let shape: SSMShape
  private let request: dtape_ssm_step_record_request
  private var isDense: Bool { request.shape.tape == Int32(DTAPE_TAPE_DENSE.rawValue) }

  init(_ request: dtape_ssm_step_record_request) throws {
    self.request = request
    shape = try SSMShape(request.shape)
  }

  func run(on stream: Stream) throws {
    guard shape.steps > 0 else { return try keepStates(on: stream) }
    guard shape.batch > 0, shape.heads > 0 else { return }
    let r = request
    let arrays = [
      r.x, r.a_log, r.b, r.c, r.d, r.dt, r.state, r.mask, r.y, r.state_out, r.decay, r.scale,
      r.da_log, r.dbx_log,
    ]
    try stream.call(arrays) { arguments in
      let from = try SSMStates.read(r.state, r.shape, shape, arguments, has: r.shape.hasInitial)
      let to = try SSMStates.write(r.state_out, r.shape, shape, arguments)
      try run(on: stream, arguments, from, to, try inputs(arguments), try outputs(arguments))
    }
  }

  private func run(
    on stream: Stream, _ arguments: Arguments, _ from: SSMStates, _ to: SSMStates,
    _ inputs: (before: [Binding], mask: Binding), _ outputs: (y: Binding, tape: [Binding])
  ) throws {
    let identity = from.isIdentity && to.isIdentity
    let plan = SSMPlan(
      batch: shape.batch, steps: shape.steps, cost: isDense ? .traffic(shape) : .arithmetic(shape),
      table: !identity, mayCommit: stream.mayCommit)
    for sequences in plan.groups {
      for pass in try plan.passes(sequences, from: from, to: to, shape: shape, arguments) {
        let table = pass.from.isIdentity && pass.to.isIdentity ? nil : pass.table(last: last)
        let buffers =
          inputs.before + [pass.from.binding, inputs.mask, outputs.y, pass.to.binding]
          + outputs.tape
        let geometry = SSMGeometry(
          stateDim: shape.stateDim, threads: shape.steps > 1 ? 256 : 128, sharing: 4)
        try stream.run(
          Work(
            variant: variant(geometry, pass, table: table != nil), buffers: buffers,
            constants: [shape.parameters(pass), table ?? bytes(ofTable: [0])],
            groups: geometry.groups(shape, pass.sequences), seconds: pass.seconds),
          arguments)
      }
    }
  }

  /// -1 for sequences that are to be skipped.
  private func last(_ sequence: Int) -> Int32 {
    request.shape.isSkipped(sequence) ? -1 : 0
  }

  private func inputs(_ arguments: Arguments) throws -> (before: [Binding], mask: Binding) {
    let before = [
      try arguments.read(request.x, "x"), try arguments.read(request.a_log, "a_log"),
      try arguments.read(request.b, "b"), try arguments.read(request.c, "c"),
      try arguments.read(request.d, "d"), try arguments.read(request.dt, "dt"),
    ]
    return (before, try arguments.read(request.mask, "mask"))
  }

  private func outputs(_ arguments: Arguments) throws -> (y: Binding, tape: [Binding]) {
    let decay = isDense ? request.da_log : request.decay
    let tape = [
      try arguments.write(decay, isDense ? "da_log" : "decay"),
      try arguments.write(request.scale, "scale"), try arguments.write(request.dbx_log, "dbx_log"),
    ]
    return (try arguments.write(request.y, "y"), tape)
  }

  private func variant(_ geometry: SSMGeometry, _ pass: SSMPass, table: Bool) -> Variant {
    let r = request
    let staged = shape.steps > 1
    let chunk = staged ? geometry.chunk : 1
    var macros = geometry.macros(
      pass.from, pass.to, aligned: r.b.isAligned && r.c.isAligned && r.dbx_log.isAligned)
    macros["CHUNK"] = "\(chunk)"
    macros["STEPS"] = "\(min(chunk, 2))"
    macros["STAGED"] = flag(staged)
    macros["SEQUENCES"] = flag(table)
    macros["TAPE"] = isDense ? "DENSE" : r.decay.isPresent ? "FACTORED" : "NONE"
    macros["HAS_D"] = flag(r.d.isPresent)
    macros["ACTIVATION"] = r.x.type
    macros["A_LOG_TYPE"] = r.a_log.type
    macros["D_TYPE"] = r.d.type
    macros["DT_TYPE"] = r.dt.type
    macros["DBX_TYPE"] = r.dbx_log.type
    macros.merge(maskMacros(r.mask)) { _, new in new }
    return Variant("ssm_step_record", threads: geometry.threads, macros)
  }

  /// No steps: the states as they are, which is a replay of nothing.
  private func keepStates(on stream: Stream) throws {
    guard request.state_out.isPresent else { return }
    var replay = dtape_ssm_replay_request()
    replay.shape = request.shape
    replay.shape.tape = Int32(DTAPE_TAPE_FACTORED.rawValue)
    replay.shape.k = nil
    replay.state = request.state
    replay.state_out = request.state_out
    try SSMReplay(replay).run(on: stream)
  }
}
