/* deltatape for hosts that have Metal of their own: the device "metal" with the caller's buffers
 * and the caller's command encoder. Only libraries built for Apple's systems have these functions.
 *
 * Objects are passed as they are in Objective-C, id<MTLBuffer> and the like, without a change of
 * ownership: (__bridge void *)buffer, or Unmanaged.passUnretained(buffer).toOpaque() in Swift.
 *
 * On the library's own streams a wait gives up on a command buffer that does not complete within 60
 * seconds, or as many as the environment variable DELTATAPE_METAL_TIMEOUT says: the device is lost.
 */
#ifndef DELTATAPE_METAL_H
#define DELTATAPE_METAL_H

#include "deltatape.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a buffer's memory known, so that any pointer into its contents may be an argument and is
 * read and written in place, never copied.
 *
 * The device keeps the buffer until dtape_metal_release. Its storage mode has to be shared; its
 * memory may not overlap memory that the device knows already. Between an enqueued call and
 * dtape_stream_wait neither the processor nor other work of the GPU may write what the call uses.
 *
 * buffer  id<MTLBuffer> of the same GPU
 */
DTAPE_API dtape_status dtape_metal_adopt(dtape_device *device, void *buffer);

/* Ends what dtape_metal_adopt began. Work that is enqueued keeps the buffer until it is done. */
DTAPE_API dtape_status dtape_metal_release(dtape_device *device, void *buffer);

/* Opens a stream whose calls are encoded by the caller's encoder. Nothing is committed and nothing
 * is waited for: dtape_stream_wait returns at once, and results are valid once the caller's command
 * buffer has completed.
 *
 *  - Every array has to lie in memory of dtape_alloc or in adopted buffers; other memory is
 * refused. Arrays marked "read at once" may lie anywhere.
 *  - Calls change the encoder's pipeline state and the bindings of its first buffers, and never end
 *    it. With a concurrent encoder each call begins with a barrier over buffers; the caller places
 *    one before reading a call's results in the same encoder.
 *  - A call is one piece of work however long it takes: what a command buffer can hold before the
 *    system stops it is the caller's to judge.
 *  - The stream is closed before the encoder ends or after, and the memory that its calls used is
 *    freed or released once the command buffer has completed.
 *
 * encoder  id<MTLComputeCommandEncoder> of the same GPU, open while calls are enqueued
 * stream   receives the stream, to be closed by dtape_stream_close
 */
DTAPE_API dtape_status dtape_metal_stream_open(dtape_device *device, void *encoder,
                                               dtape_stream **stream);

#ifdef __cplusplus
}
#endif

#endif
