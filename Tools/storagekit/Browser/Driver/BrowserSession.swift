import Foundation
import StorageKit

/// Runs a browser on a terminal: keys and answers in, frames out.
///
/// Isolation: everything but the reads happens on the thread that calls `run`. It blocks on keys, so it must not be a thread of the cooperative pool.
final class BrowserSession {
    private var browser: Browser
    private let reader: BrowserReader
    private let queue: EventQueue
    private var keys = KeyDecoder()
    private var writer: FrameWriter
    private var reading: Task<Void, Never>?
    private var isEnded = false
    /// The signal that ends the program.
    private var endingSignal: Int32?

    /// How long to wait, in milliseconds, before a lone Escape byte counts as the Escape key and not as the beginning of a sequence.
    private static let escapeDelay: Int32 = 40

    init(_ browser: Browser, _ reader: BrowserReader, style: Style) throws {
        self.browser = browser
        self.reader = reader
        writer = FrameWriter(style)
        queue = try EventQueue()
    }

    /// Runs until it is quit.
    ///
    /// - Returns: The signal that ended it; nil if a key did.
    func run() throws -> Int32? {
        try TerminalMode.enter()
        TerminalSignals.start(writingTo: queue.writeEnd)
        let follower = follow()
        defer {
            follower.cancel()
            reading?.cancel()
            TerminalMode.leave()
            TerminalSignals.stop()
        }
        perform(browser.begin())
        draw()
        while !isEnded {
            let keys = wait() ? keys.flush() : readKeys()
            let (events, signals) = queue.take()
            for number in signals.sorted() { handle(signal: number) }
            browser.now = SystemTime.now
            for key in keys where !isEnded { perform(browser.handle(.key(key))) }
            for event in events where !isEnded { perform(browser.handle(event)) }
            if !isEnded { draw() }
        }
        return endingSignal
    }

    /// Waits until there is a key, an answer or a signal.
    ///
    /// - Returns: Whether the wait timed out, so that no further bytes of a key will follow.
    private func wait() -> Bool {
        var polls = [
            pollfd(fd: 0, events: Int16(POLLIN), revents: 0),
            pollfd(fd: queue.readEnd, events: Int16(POLLIN), revents: 0),
        ]
        return poll(&polls, 2, keys.isPending ? Self.escapeDelay : -1) == 0
    }

    private func readKeys() -> [Key] {
        var input = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
        guard poll(&input, 1, 0) > 0 else { return [] }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = read(0, &buffer, buffer.count)
        if count > 0 { return keys.add(buffer[..<count]) }
        // The terminal is gone.
        if count == 0 || errno != EINTR && errno != EAGAIN { end(by: SIGHUP) }
        return []
    }

    private func handle(signal number: Int32) {
        switch number {
        case SIGWINCH: perform(browser.handle(.resized(TerminalMode.size)))
        case SIGTSTP: suspend()
        case SIGCONT: resume()
        default: end(by: number)
        }
    }

    private func end(by number: Int32) {
        endingSignal = number
        isEnded = true
    }

    private func suspend() {
        TerminalMode.leave()
        TerminalSignals.suspend()
        resume()
    }

    /// Enters the full-screen mode again; other programs may have used the terminal meanwhile.
    private func resume() {
        TerminalMode.leave()
        do {
            try TerminalMode.enter()
        } catch {
            return end(by: SIGHUP)
        }
        writer.forget()
        perform(browser.handle(.resized(TerminalMode.size)))
    }

    private func draw() {
        if !TerminalMode.write(writer.text(of: BrowserDrawing.frame(of: browser))) { end(by: SIGHUP) }
    }

    private func perform(_ effects: [BrowserEffect]) {
        for effect in effects {
            switch effect {
            case .cancel: reading?.cancel()
            case .quit: isEnded = true
            case .suspend: suspend()
            case .read(let request):
                reading?.cancel()
                reading = Task { [reader, queue] in
                    await reader.run(request) { queue.add(.answer(request.number, $0)) }
                }
            }
        }
    }

    /// Sends the end of the log to the browser whenever it changes.
    private func follow() -> Task<Void, Never> {
        Task { [reader, queue] in
            do {
                for await _ in reader.follow() { queue.add(.head(try await reader.head())) }
                try reader.checkFile()
            } catch {
                if !Task.isCancelled { queue.add(.lost(CommandError(wrapping: error))) }
            }
        }
    }
}
