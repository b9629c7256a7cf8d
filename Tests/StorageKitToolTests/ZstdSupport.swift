import CZstd

/// One zstd frame of the bytes.
func compressed(_ bytes: [UInt8], level: Int32 = 3, windowLog: Int32? = nil) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: ZSTD_compressBound(bytes.count))
    let context = ZSTD_createCCtx()
    defer { ZSTD_freeCCtx(context) }
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level)
    if let windowLog {
        ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, windowLog)
        ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0)
    }
    let count = ZSTD_compress2(context, &output, output.count, bytes, bytes.count)
    return Array(output[..<count])
}
