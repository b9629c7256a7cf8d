/// The script that a shell runs to complete a command line: it calls the tool, which knows its commands and reads the store.
enum CompletionScript {
    static func text(for shell: CompletionShellName) -> String {
        switch shell {
        case .bash: bash
        case .zsh: zsh
        case .fish: fish
        }
    }

    // Variables in the line, as in -s $STORE, may not be exported: the script passes them to the tool only. By env, because a shell doesn't set
    // those that it holds itself, such as UID, and setting others changes the shell.

    private static let bash = #"""
        _storagekit() {
            local __tool=$1 __word __rest=${COMP_LINE:0:COMP_POINT} __variables=()
            [[ $__tool == "~/"* ]] && __tool=$HOME/${__tool#"~/"}
            type -P "$__tool" >/dev/null || __tool=storagekit
            while [[ $__rest =~ \$\{?([A-Za-z_][A-Za-z_0-9]*) ]]; do
                __variables+=("${BASH_REMATCH[1]}=${!BASH_REMATCH[1]-}")
                __rest=${__rest#*"${BASH_REMATCH[0]}"}
            done
            COMPREPLY=()
            while IFS= read -r __word; do
                COMPREPLY+=("$__word")
            done < <(${__variables[@]+env "${__variables[@]}"} \
                "$__tool" complete bash -- "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null)
        }
        complete -o nospace -F _storagekit storagekit

        """#

    private static let zsh = #"""
        #compdef storagekit

        _storagekit() {
            emulate -L zsh
            local kind word about line="${(j: :)words[1,CURRENT-1]} $QIPREFIX$IPREFIX$PREFIX"
            local -a whole parts shown_whole shown_parts variables match mbegin mend
            local rest=$line MATCH MBEGIN MEND
            while [[ $rest =~ '\$\{?([A-Za-z_][A-Za-z_0-9]*)' ]]; do
                variables+=("${match[1]}=${(P)match[1]}")
                rest=${rest[MEND+1,-1]}
            done
            (( $#variables )) && variables=(env $variables)
            while IFS=$'\t' read -r kind word about; do
                [[ -n $about ]] && about="$word  -- $about" || about=$word
                if [[ $kind == part ]]; then
                    parts+=("$word") shown_parts+=("$about")
                else
                    whole+=("$word") shown_whole+=("$about")
                fi
            done < <($variables ${~words[1]} complete zsh -- "$line" 2>/dev/null)
            (( $#whole )) && compadd -l -U -V storagekit -d shown_whole -a whole
            (( $#parts )) && compadd -U -S '' -V storagekit-parts -d shown_parts -a parts
            (( $#whole + $#parts ))
        }

        if [[ $funcstack[1] == _storagekit ]]; then
            _storagekit "$@"
        else
            compdef _storagekit storagekit
        fi

        """#

    private static let fish = #"""
        function __storagekit_complete
            set -l line (commandline -cp)
            set -l tool (commandline -opc)[1]
            set -l variables
            if string match -q -- '~*' (commandline -ct)
                # fish writes a home folder by itself.
                __fish_complete_path (commandline -ct)
                return
            end
            for name in (string match -r -a -g -- '\$([A-Za-z_][A-Za-z_0-9]*)' "$line")
                set -a variables "$name=$$name"
            end
            if set -q variables[1]
                set tool env $variables $tool
            end
            $tool complete fish -- "$line" 2>/dev/null
        end
        complete -c storagekit -f -k -a '(__storagekit_complete)'

        """#
}
