// The inverse of each chunk: a request, its bindings and its dispatches.
import DeltatapeMetalHost
import Metal

struct ChunkTriSolveInvert {
  private static let threads = 32
  /// Of the shader's threads, 16 solve a chunk.
  private static let headsPerGroup = threads / 16
  /// The shader counts the elements of a chunk's rows in 32 bits.
  private static let mostHeads = Int(UInt32.max) / (64 * 64)
  private let request: dtape_chunk_tri_solve_invert_request
  private let batch: Int
  private let steps: Int
  private let heads: Int
  private let chunk: Int

  init(_ request: dtape_chunk_tri_solve_invert_request) throws {
    self.request = request
    batch = Int(request.batch)
    steps = Int(request.steps)
    heads = Int(request.heads)
    chunk = Int(request.chunk)
    let most = Int(Int32.max)
    for (name, value, most) in [
      ("batch", batch, most), ("steps", steps, most), ("heads", heads, Self.mostHeads),
    ] where value > most {
      throw HostError(DTAPE_NOT_OFFERED, "\(name): expected at most \(most) on metal, got \(value)")
    }
  }

  func run(on stream: Stream) throws {
    guard batch > 0, steps > 0, heads > 0 else { return }
    let chunks = ragged ?? []
    let count = chunks.isEmpty ? (steps + chunk - 1) / chunk : chunks.count
    try stream.call([request.a, request.a_inv]) { arguments in
      let a = try arguments.read(request.a, "a")
      let result = try arguments.write(request.a_inv, "a_inv")
      let width = stream.mayCommit || !chunks.isEmpty ? widest(table: !chunks.isEmpty) : count
      for first in stride(from: 0, to: count, by: width) {
        let part = first..<min(first + width, count)
        try stream.run(work(part, chunks, [a, result]), arguments)
      }
    }
  }

  /// The first row and the number of rows of each chunk, where they restart at each sequence.
  private var ragged: [(start: Int, rows: Int)]? {
    guard let starts = request.cu_seqlens else { return nil }
    return (1..<max(Int(request.cu_seqlens_count), 1)).flatMap { sequence in
      let (start, end) = (Int(starts[sequence - 1]), Int(starts[sequence]))
      return stride(from: start, to: end, by: chunk).map { ($0, min(chunk, end - $0)) }
    }
  }

  /// Chunks of one dispatch: what a command buffer has time for, and setBytes room.
  private func widest(table: Bool) -> Int {
    let affordable = Int(Stream.longest / (secondsPerBlock * Double(heads) * Double(batch)))
    return max(table ? min(affordable, 4095 / 8) : affordable, 1)
  }

  private var secondsPerBlock: Double { 1e-6 * Double(chunk * chunk) / 4096 }

  private func work(
    _ part: Range<Int>, _ chunks: [(start: Int, rows: Int)], _ buffers: [Binding]
  ) -> Work {
    let parameters = chunk_tri_solve_invert_params(
      first: UInt32(part.lowerBound), steps: UInt32(steps), heads: UInt32(heads), reserved: 0)
    let table: [Int32] =
      chunks.isEmpty ? [0] : chunks[part].flatMap { [Int32($0.start), Int32($0.rows)] }
    return Work(
      variant: variant(table: !chunks.isEmpty), buffers: buffers,
      constants: [bytes(of: parameters), bytes(ofTable: table)],
      groups: MTLSize(
        width: (heads + Self.headsPerGroup - 1) / Self.headsPerGroup, height: part.count,
        depth: batch),
      seconds: secondsPerBlock * Double(part.count) * Double(heads) * Double(batch))
  }

  private func variant(table: Bool) -> Variant {
    let aligned = request.a.isAligned && request.a_inv.isAligned
    return Variant(
      "chunk_tri_solve_invert", threads: ChunkTriSolveInvert.threads,
      [
        "BT": "\(chunk)", "CHUNKS": flag(table), "ALIGNED": flag(aligned),
        "A_TYPE": request.a.type, "A_INV_TYPE": request.a_inv.type,
      ])
  }
}
