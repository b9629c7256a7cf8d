import CLibedit
import Foundation
import Synchronization

/// Reads lines at a terminal with libedit: Emacs' keys, a history in a file, and Tab.
///
/// Isolation: not `Sendable`: it belongs to the thread that reads. Only whether an interrupt or a stop came is in atomics, which the
/// handlers of the signals set.
final class LineEditor {
    enum Input: Equatable {
        case line(String)
        /// Ctrl-C: the typed line is discarded.
        case interrupted
        /// Ctrl-D in an empty line.
        case end
    }

    private static let historyLimit: Int32 = 1000
    private static let isInterrupted = Atomic<Bool>(false)
    private static let isStopped = Atomic<Bool>(false)
    /// A pipe with which the signal handler, which may run in any thread, ends the wait for a key.
    private static let wakeUp: (read: Int32, write: Int32) = {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return (-1, -1) }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        return (ends[0], ends[1])
    }()

    private let editor: OpaquePointer
    private let history: OpaquePointer
    private let historyPath: String?
    /// Returns the candidates for the word before the cursor.
    private let candidates: (_ line: String) -> WordCandidates
    /// The text of the prompt; libedit reads it whenever it draws the line.
    private var prompt: UnsafeMutablePointer<CChar>?

    /// Creates an editor if input and output are terminals; nil otherwise, and without memory for it.
    ///
    /// - Parameter name: The name of its history: `sql`, `replay`.
    init?(_ name: String, candidates: @escaping (_ line: String) -> WordCandidates) {
        guard isatty(0) == 1, isatty(1) == 1 else { return nil }
        // Without a locale, every byte above 127 would be a character.
        setlocale(LC_CTYPE, "")
        guard Self.wakeUp.read >= 0, let list = history_init() else { return nil }
        guard let pointer = storagekit_edit_open("storagekit") else {
            history_end(list)
            return nil
        }
        (editor, history) = (pointer, list)
        historyPath = HistoryFile.path(name)
        self.candidates = candidates
        storagekit_history_limit(history, Self.historyLimit)
        // A history that can't be read counts as empty.
        if let historyPath { _ = storagekit_history_load(history, historyPath) }
        // Unretained is sound: this object outlives the editor, which it ends.
        storagekit_edit_set_owner(editor, Unmanaged.passUnretained(self).toOpaque())
        storagekit_edit_prepare(
            editor, history, { LineEditor.owner(of: $0)?.prompt }, { editor, _ in LineEditor.complete(editor) },
            { LineEditor.readKey($1, in: $0) }, { _, _ in UInt8(CC_NEWLINE) })
    }

    deinit {
        el_end(editor)
        history_end(history)
        free(prompt)
    }

    func read(prompt text: String) -> Input {
        free(prompt)
        prompt = strdup(text)
        Self.isInterrupted.store(false, ordering: .relaxed)
        let previous = signal(SIGINT) { _ in
            LineEditor.isInterrupted.store(true, ordering: .relaxed)
            LineEditor.endWait()
        }
        defer { signal(SIGINT, previous) }
        Self.isStopped.store(false, ordering: .relaxed)
        let stopping = signal(SIGTSTP, Self.handleStop)
        // A shell without job control has it ignored.
        if unsafeBitCast(stopping, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { signal(SIGTSTP, SIG_IGN) }
        defer { signal(SIGTSTP, stopping) }
        el_resize(editor)
        var count: Int32 = 0
        let line = el_gets(editor, &count)
        if Self.isInterrupted.load(ordering: .relaxed) {
            // If the terminal is gone, the next read ends.
            _ = write(1, "^C\n", 3)
            return .interrupted
        }
        guard let bytes = line, count > 0 else { return .end }
        let text = String(decoding: UnsafeRawBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
        return .line(text.hasSuffix("\n") ? String(text.dropLast()) : text)
    }

    /// Adds typed text to the history, and saves the history to its file.
    func remember(_ text: String) {
        guard !text.allSatisfy(\.isWhitespace) else { return }
        // With its line breaks: they may end a comment, or be in a string. libedit edits such a text in several lines.
        storagekit_history_add(history, text.last == "\n" ? String(text.dropLast()) : text)
        // Without its file, the history ends with the process.
        if let historyPath { _ = storagekit_history_save(history, historyPath) }
    }

    private static let handleStop: @Sendable @convention(c) (Int32) -> Void = { _ in
        LineEditor.isStopped.store(true, ordering: .relaxed)
        LineEditor.endWait()
    }

    /// Ends the wait for a key; for handlers of signals.
    private static func endWait() {
        var byte: UInt8 = 0
        _ = write(wakeUp.write, &byte, 1)
    }

    /// Stops the process, as a shell expects it, with the terminal as it was before. Returns when it is continued.
    private static func stop(_ editor: OpaquePointer?) {
        storagekit_edit_suspend(editor)
        signal(SIGTSTP, SIG_DFL)
        ThreadSignal.send(SIGTSTP)
        // The shell may have continued it in the background, where it must not draw.
        if tcgetpgrp(0) != getpgrp() { ThreadSignal.send(SIGTTIN) }
        signal(SIGTSTP, handleStop)
        storagekit_edit_resume(editor)
    }

    /// Reads one character. An interrupt that arrives meanwhile counts as the character Ctrl-C.
    private static func readKey(_ key: UnsafeMutablePointer<wchar_t>?, in editor: OpaquePointer?) -> Int32 {
        guard let key else { return -1 }
        var bytes: [CChar] = []
        while true {
            var sources = [
                pollfd(fd: 0, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wakeUp.read, events: Int16(POLLIN), revents: 0),
            ]
            var byte: CChar = 0
            if poll(&sources, 2, -1) < 0 {
                if errno == EINTR { continue }
                return -1
            }
            if sources[1].revents != 0 {
                while Foundation.read(wakeUp.read, &byte, 1) > 0 {}
                if isInterrupted.load(ordering: .relaxed) {
                    key.pointee = 3
                    return 1
                }
                if isStopped.exchange(false, ordering: .relaxed) { stop(editor) }
                continue
            }
            let count = Foundation.read(0, &byte, 1)
            if count == 0 { return 0 }
            if count < 0 {
                if errno == EINTR { continue }
                return -1
            }
            bytes.append(byte)
            var state = mbstate_t()
            // -1 means an invalid character, and -2 an incomplete one.
            let length = mbrtowc(key, bytes, bytes.count, &state)
            if length >= 0 { return 1 }
            if length == -1 { bytes.removeAll() }
        }
    }

    // MARK: Tab

    private static func owner(of editor: OpaquePointer?) -> LineEditor? {
        storagekit_edit_owner(editor).map { Unmanaged<LineEditor>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Inserts the common prefix of all candidates, or lists them.
    private static func complete(_ editor: OpaquePointer?) -> UInt8 {
        guard let owner = owner(of: editor), let line = el_line(editor)?.pointee, let start = line.buffer,
            let cursor = line.cursor
        else { return UInt8(CC_ERROR) }
        let typed = String(decoding: UnsafeRawBufferPointer(start: start, count: cursor - start), as: UTF8.self)
        let found = owner.candidates(typed)
        guard !found.words.isEmpty else { return UInt8(CC_REFRESH_BEEP) }
        let addition = found.addition
        if addition.isEmpty {
            let text = "\n" + found.listing(width: Terminal(descriptor: 1).width ?? Terminal.fallbackWidth)
            // If the terminal is gone, the next read ends.
            _ = text.withCString { write(1, $0, strlen($0)) }
            return UInt8(CC_REDISPLAY)
        }
        if found.replaces > 0 { el_deletestr(editor, Int32(found.replaces)) }
        return el_insertstr(editor, addition) == 0 ? UInt8(CC_REFRESH) : UInt8(CC_ERROR)
    }
}
