import ArgumentParser
import Synchronization

@testable import StorageKitTool

/// A browser without a terminal, on the real readers of a store.
struct BrowserRun {
    private(set) var browser: Browser
    private let reader: BrowserReader
    private(set) var isQuit = false

    /// Whether frames have times in UTC; on a terminal they are in the zone of its user.
    static let isUTC = TimeDisplay.current.offsetSeconds(at: SampleStore.start) == 0

    init(_ path: String, rows: Int = 24, columns: Int = 80, filter: String = "") async throws {
        reader = try BrowserReader(StoreOption.parse(["-s", path]))
        browser = try Browser(
            store: "shop.sqlite", name: "shop.sqlite", size: FrameSize(rows: rows, columns: columns),
            filter: LogFilter(filter))
        // 2024-06-01T00:00:00Z
        browser.now = 1_717_200_000_000_000
        await perform(browser.begin())
    }

    mutating func press(_ keys: Key...) async { for key in keys { await send(.key(key)) } }

    mutating func type(_ text: String) async { for character in text { await send(.key(.character(character))) } }

    mutating func send(_ event: BrowserEvent) async { await perform(browser.handle(event)) }

    private mutating func perform(_ effects: [BrowserEffect]) async {
        for effect in effects {
            switch effect {
            case .quit: isQuit = true
            case .cancel, .suspend: break
            case .read(let request):
                let answers = Mutex<[ReadAnswer]>([])
                await reader.run(request) { answer in answers.withLock { $0.append(answer) } }
                for answer in answers.withLock({ $0 }) { await send(.answer(request.number, answer)) }
            }
        }
    }

    var frame: Frame { BrowserDrawing.frame(of: browser) }
    var text: String { frame.text.joined(separator: "\n") + "\n" }

    func close() async throws { try await reader.close() }
}
