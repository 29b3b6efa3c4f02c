// The arrays of one call as Metal buffers. The library's memory and adopted buffers are used in
// place; other memory is read through its pages and written by a copy, since Metal leaves pages
// undefined that the processor and the GPU both write.
import DeltatapeMetalHost
import Metal

final class Arguments {
  let memory: Memory
  private let inPlace: Bool
  private var allocations: [Allocation] = []
  private var copies: [Copy] = []

  private struct Copy {
    let from: UnsafeMutableRawPointer
    let to: UnsafeMutableRawPointer
    let bytes: Int
  }

  /// `inPlace`: refuse memory that is neither the library's nor adopted.
  init(_ memory: Memory, inPlace: Bool) {
    self.memory = memory
    self.inPlace = inPlace
  }

  deinit { memory.end(allocations) }

  func read(_ span: dtape_span, _ name: String) throws -> Binding {
    if span.isEmpty { return memory.nothing }
    if let own = own(span) { return own }
    try refuseForeign(name)
    if let pages = wrap(span, counting: Int(span.bytes)) { return pages }
    let staged = try scratch(Int(span.bytes))
    copy(span.address, to: staged.contents, Int(span.bytes))
    return staged.binding
  }

  func write(_ span: dtape_span, _ name: String) throws -> Binding {
    if span.isEmpty { return memory.nothing }
    if let own = own(span) { return own }
    try refuseForeign(name)
    let staged = try scratch(Int(span.bytes))
    copyBack(from: staged.contents, to: span.address, Int(span.bytes))
    return staged.binding
  }

  func own(_ span: dtape_span) -> Binding? {
    guard let (allocation, binding) = memory.resolve(span) else { return nil }
    allocations.append(allocation)
    return binding
  }

  func refuseForeign(_ name: String) throws {
    guard inPlace else { return }
    throw HostError(
      DTAPE_INVALID_ARGUMENT,
      "\(name): expected memory of dtape_alloc or an adopted buffer, as the encoder is the "
        + "caller's, got other memory")
  }

  func wrap(_ span: dtape_span, counting bytes: Int) -> Binding? {
    let pages = memory.wrap(span.address, Int(span.bytes))
    if pages != nil { Counters.shared.add(bytes, to: \.bytes_wrapped) }
    return pages
  }

  func scratch(_ bytes: Int) throws -> (binding: Binding, contents: UnsafeMutableRawPointer) {
    let allocation = try memory.scratch(bytes)
    allocations.append(allocation)
    return (Binding(buffer: allocation.buffer, offset: 0), allocation.buffer.contents())
  }

  func copy(_ address: UInt, to target: UnsafeMutableRawPointer, _ bytes: Int) {
    guard let source = UnsafeRawPointer(bitPattern: address) else { return }
    target.copyMemory(from: source, byteCount: bytes)
    Counters.shared.add(bytes, to: \.bytes_copied)
  }

  // MARK: Results that have to go back

  func copyBack(from source: UnsafeMutableRawPointer, to address: UInt, _ bytes: Int) {
    guard let target = UnsafeMutableRawPointer(bitPattern: address) else { return }
    copies.append(Copy(from: source, to: target, bytes: bytes))
  }

  var hasCopies: Bool { !copies.isEmpty }

  func finish() {
    for each in copies { copy(UInt(bitPattern: each.from), to: each.to, each.bytes) }
    copies = []
  }

  /// Whether a result that has yet to go back lies in an array.
  func awaits(_ span: dtape_span) -> Bool {
    !span.isEmpty
      && copies.contains {
        UInt(bitPattern: $0.to) < span.address &+ UInt(span.bytes)
          && span.address < UInt(bitPattern: $0.to) &+ UInt($0.bytes)
      }
  }
}

// MARK: - Arrays

extension dtape_span {
  var address: UInt { UInt(bitPattern: data) }
  var isEmpty: Bool { data == nil || bytes == 0 }
  var isPresent: Bool { dtype != 0 }

  /// The name that shaders know the elements by. Absent arrays have one too, which is not used.
  var type: String {
    switch dtype {
    case Int32(DTAPE_F16.rawValue): "half"
    case Int32(DTAPE_BF16.rawValue): "bf16"
    case Int32(DTAPE_MASK8.rawValue): "uchar"
    case Int32(DTAPE_MASK32.rawValue): "uint"
    default: "float"
    }
  }

  var elementBytes: Int {
    switch dtype {
    case Int32(DTAPE_F16.rawValue), Int32(DTAPE_BF16.rawValue): 2
    case Int32(DTAPE_MASK8.rawValue): 1
    default: 4
    }
  }

  /// Whether four neighbours can be read at once, if rows are multiples of four.
  var isAligned: Bool { isEmpty || address % UInt(4 * elementBytes) == 0 }
}
