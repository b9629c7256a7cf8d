import CSQLite
import CZstd
import Foundation
import StorageCore

@testable import StorageLog

/// The body of a row of the log, behind the checksum of its frame: whoever has the file can make a right one.
struct SegmentTarget: FuzzTarget {
    static let name = "segment"

    private let decoder = SegmentDecoder()
    private let outlines = OutlineDecoder()
    private let catalog = Catalog()

    func run(_ bytes: UnsafeRawBufferPointer) throws {
        guard bytes.count > 0 else { return }
        let bound = ZSTD_compressBound(bytes.count)
        let body = UnsafeMutableRawBufferPointer.allocate(byteCount: bound, alignment: 1)
        defer { body.deallocate() }
        let context = ZSTD_createCCtx()
        defer { ZSTD_freeCCtx(context) }
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 1)
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
        let size = ZSTD_compress2(context, body.baseAddress, bound, bytes.baseAddress, bytes.count)
        guard ZSTD_isError(size) == 0 else { return }
        let frame = UnsafeRawBufferPointer(rebasing: body[..<size])
        let batch = try decoder.decode(body: frame, size: bytes.count)
        for index in 0..<batch.header.count { _ = batch.event(at: index, catalog: catalog) }
        let outline = try outlines.outline(of: frame, batch.header)
        guard outline.header == batch.header else { found("an outline says another header than the whole row") }
    }

    /// Bodies of a small store's log.
    static func seeds() throws -> [String: [UInt8]] {
        let engine = try SeedStore.make(at: ":memory:")
        var seeds: [String: [UInt8]] = [:]
        try engine.readNow { db in
            for row in try SeedStore.rows(db, "SELECT position, size, body FROM storage_log WHERE base = 0") {
                guard case .integer(let position) = row[0], case .integer(let size) = row[1],
                    case .blob(let body) = row[2]
                else { continue }
                var bytes = [UInt8](repeating: 0, count: Int(size))
                let written = body.withUnsafeBytes { ZSTD_decompress(&bytes, bytes.count, $0.baseAddress, $0.count) }
                if written == bytes.count { seeds["row-\(position)"] = bytes }
            }
        }
        return seeds
    }
}
