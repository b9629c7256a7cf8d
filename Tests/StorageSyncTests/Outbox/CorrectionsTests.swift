import Testing

@testable import StorageSync

struct CorrectionsTests {
    private let pending = (1...100).map { position in
        PendingWrite(
            position: position, document: DocumentID(entity: "notes", id: "a"), kind: .patch, size: 10, base: 0)
    }

    @Test("Without a correction, each later write is tried once for all that can't be sent")
    func uncorrected() throws {
        var corrections = Corrections()
        var tried: [Int64] = []
        var readings = 0
        for write in pending.prefix(50) {
            let found = try corrections.first(after: write) {
                readings += 1
                return pending
            } where: {
                tried.append($0.position)
                return false
            }
            #expect(found == nil)
        }
        #expect(tried == Array(2...100))
        #expect(readings == 1)
    }

    @Test("Before a correction, each later write is tried once for all that can't be sent")
    func corrected() throws {
        var corrections = Corrections()
        var tried: [Int64] = []
        for write in pending.prefix(50) {
            let found = try corrections.first(after: write) {
                pending
            } where: {
                tried.append($0.position)
                return $0.position == 100
            }
            #expect(found?.position == 100)
        }
        #expect(tried.filter { $0 < 100 } == Array(2...99))
        #expect(tried.count == 98 + 50)
    }

    @Test("A correction is the first later write that can be sent")
    func firstLater() throws {
        var corrections = Corrections()
        let found = try [0, 2, 3, 98].map { index in
            try corrections.first(after: pending[index]) {
                pending
            } where: {
                $0.position == 2 || $0.position == 10
            }?.position
        }
        #expect(found == [2, 10, 10, nil])
    }
}
