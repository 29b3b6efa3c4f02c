// A gated delta net's state: keep two of the four drafted tokens on the tape, and compare with
// doing only those two.
import CDeltatape

let (steps, rows, columns, accepted) = (4, 3, 5, 2)
let decay: [Float] = [0.5, 0.9, 0.75, 0.25]
let values: [Float] = (0..<steps * rows).map { Float($0 % 7) - 3 }
let keys: [Float] = (0..<steps * columns).map { Float($0 % 4) * 0.5 - 1 }
let snapshot: [Float] = (0..<rows * columns).map { Float($0) * 0.25 }

func memory(_ values: [Float]) -> UnsafeMutablePointer<Float> {
  let memory = UnsafeMutablePointer<Float>.allocate(capacity: values.count)
  memory.initialize(from: values, count: values.count)
  return memory
}

func rolledBack(to k: Int32) throws -> [Float] {
  let state = memory(snapshot)
  let (tape, u, v) = (memory(decay), memory(values), memory(keys))
  defer { for each in [state, tape, u, v] { each.deallocate() } }
  var args = dtape_ssm_replay_args()
  (args.batch, args.steps, args.heads, args.groups) = (1, Int64(steps), 1, 1)
  (args.head_dim, args.state_dim) = (Int64(rows), Int64(columns))
  args.tape = Int32(DTAPE_TAPE_FACTORED.rawValue)
  args.state = dtape_input(state)
  args.decay = dtape_input(tape)
  args.u = dtape_input(u)
  args.v = dtape_input(v)
  args.state_out = dtape_output(state)
  let stream = try Stream(device: "auto")
  try withUnsafePointer(to: k) { k in
    args.k = k
    try stream.replay(args)
  }
  try stream.wait()
  return [Float](UnsafeBufferPointer(start: state, count: snapshot.count))
}

func expected() -> [Double] {
  (0..<rows * columns).map { place in
    let (row, column) = (place / columns, place % columns)
    return (0..<accepted).reduce(Double(snapshot[place])) { state, t in
      Double(decay[t]) * state + Double(values[t * rows + row] * keys[t * columns + column])
    }
  }
}

let state = try rolledBack(to: Int32(accepted))
let worst = zip(state, expected()).map { abs(Double($0) - $1) }.max() ?? .infinity
let unchanged = try rolledBack(to: 0) == snapshot
let version = String(cString: dtape_version())
print("deltatape \(version) from Swift: worst error \(worst), k = 0 unchanged: \(unchanged)")
if worst > 1e-6 || !unchanged { fatalError("other numbers") }
