// 16-bit values leave as one AVX register, into which the instruction set narrows them.
template <class Element>
DTAPE_INLINE void store(Element *p, v16 v) {
  _mm256_storeu_si256((__m256i *)p, narrow(Element(), v));
}
template <class Element>
DTAPE_INLINE void stream(Element *p, v16 v) {
  _mm256_stream_si256((__m256i *)p, narrow(Element(), v));
}
