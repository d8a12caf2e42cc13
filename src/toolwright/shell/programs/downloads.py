"""`curl` and `wget`: addresses they fetch, files they read, send and write."""

import re
from collections.abc import Mapping, Sequence

from toolwright.shell.programs.arguments import Effects, Handler
from toolwright.shell.programs.options import take_options
from toolwright.shell.state.findings import Contained
from toolwright.shell.state.state import Field, literal

_CURL = (
    "-0 -1 -2 -3 -4 -6 -# -a -A: -b: -B -c> -C: -d: -D> -e: -E< -f -F: -g -G -h -H: -i -I -j -J -k -K! -l -L -m: -M"
    " -n -N -o> -O -p -P: -q -Q! -r: -R -s -S -t! -T< -u: -U: -v -V -w: -x: -X: -y: -Y: -z: -Z --abstract-unix-socket!"
    " --alt-svc> --anyauth --append --aws-sigv4: --basic --cacert< --capath< --cert< --cert-status --cert-type:"
    " --ciphers: --compressed --compressed-ssh --config! --connect-timeout: --connect-to: --continue-at: --cookie:"
    " --cookie-jar> --create-dirs --create-file-mode: --crlf --crlfile< --curves: --data: --data-ascii: --data-binary:"
    " --data-raw: --data-urlencode: --delegation: --digest --disable --disable-eprt --disable-epsv --disallow-"
    " username-in-url --dns-interface: --dns-ipv4-addr: --dns-ipv6-addr: --dns-servers: --doh-cert-status --doh-"
    " insecure --doh-url: --dump-header> --egd-file< --engine! --etag-compare< --etag-save> --expect100-timeout:"
    " --fail --fail-early --fail-with-body --false-start --form: --form-escape --form-string: --ftp-account: --ftp-"
    " alternative-to-user: --ftp-create-dirs --ftp-method: --ftp-pasv --ftp-port: --ftp-pret --ftp-skip-pasv-ip --ftp-"
    " ssl-ccc --ftp-ssl-ccc-mode: --ftp-ssl-control --get --globoff --happy-eyeballs-timeout-ms: --haproxy-protocol"
    " --head --header: --hostpubmd5: --hostpubsha256: --hsts> --http0 --http1 --http1.0 --http1.1 --http2"
    " --http2-prior-knowledge --http3 --http3-only --ignore-content-length --include --insecure --interface: --ipv4"
    " --ipv6 --json: --junk-session-cookies --keepalive-time: --key< --key-type: --krb: --libcurl> --limit-rate:"
    " --list-only --local-port: --location --location-trusted --login-options: --mail-auth: --mail-from: --mail-rcpt:"
    " --mail-rcpt-allowfails --manual --max-filesize: --max-redirs: --max-time: --metalink --negotiate --netrc"
    " --netrc-file< --netrc-optional --next --no-alpn --no-buffer --no-clobber --no-keepalive --no-npn --no-progress-"
    " meter --no-sessionid --noproxy: --ntlm --ntlm-wb --oauth2-bearer: --output> --output-dir> --parallel --parallel-"
    " immediate --parallel-max: --pass: --path-as-is --pinnedpubkey: --post301 --post302 --post303 --preproxy:"
    " --progress-bar --proto: --proto-default! --proto-redir! --proxy: --proxy-anyauth --proxy-basic --proxy-cacert<"
    " --proxy-capath< --proxy-cert< --proxy-cert-type: --proxy-ciphers: --proxy-crlfile< --proxy-digest --proxy-"
    " header: --proxy-insecure --proxy-key< --proxy-key-type: --proxy-negotiate --proxy-ntlm --proxy-pass: --proxy-"
    " pinnedpubkey: --proxy-service-name: --proxy-ssl-allow-beast --proxy-ssl-auto-client-cert --proxy-tls13-ciphers:"
    " --proxy-tlsauthtype: --proxy-tlspassword: --proxy-tlsuser: --proxy-tlsv1 --proxy-user: --proxy1 --proxytunnel"
    " --pubkey< --quote! --random-file< --range: --rate: --raw --referer: --remote-header-name --remote-name --remote-"
    " name-all --remote-time --remove-on-error --request: --request-target: --resolve: --retry: --retry-all-errors"
    " --retry-connrefused --retry-delay: --retry-max-time: --sasl-authzid: --sasl-ir --service-name: --show-error"
    " --silent --socks4: --socks4a: --socks5: --socks5-basic --socks5-gssapi --socks5-gssapi-nec --socks5-gssapi-"
    " service: --socks5-hostname: --speed-limit: --speed-time: --ssl --ssl-allow-beast --ssl-auto-client-cert --ssl-"
    " no-revoke --ssl-reqd --ssl-revoke-best-effort --sslv2 --sslv3 --stderr> --styled-output --suppress-connect-"
    " headers --tcp-fastopen --tcp-nodelay --telnet-option! --tftp-blksize: --tftp-no-options --time-cond: --tls-max:"
    " --tls13-ciphers: --tlsauthtype: --tlspassword: --tlsuser: --tlsv1 --tlsv1.0 --tlsv1.1 --tlsv1.2 --tlsv1.3 --tr-"
    " encoding --trace> --trace-ascii> --trace-time --unix-socket! --upload-file< --url: --url-query: --use-ascii"
    " --user: --user-agent: --verbose --write-out: --xattr"
)
_WGET = (
    "-4 -6 -a> -A: -b -B: -c -d -D: -e! -E -F -h -H -i< -I: -k -K -l: -L -m -N -nc -nd -nH -np -nv -o> -O> -p -P> -q"
    " -Q: -r -R: -S -t: -T: -U: -v -V -w: -x -X: --accept: --accept-regex: --adjust-extension --append-output> --ask-"
    " password --auth-no-challenge --background --backup-converted --backups: --base: --bind-address: --body-data:"
    " --body-file< --ca-certificate< --ca-directory< --certificate< --certificate-type: --ciphers: --compression:"
    " --config! --connect-timeout: --content-disposition --content-on-error --continue --convert-file-only --convert-"
    " links --crl-file< --cut-dirs: --debug --default-page: --delete-after --directory-prefix> --dns-timeout:"
    " --domains: --exclude-directories: --exclude-domains: --execute! --follow-ftp --follow-tags: --force-directories"
    " --force-html --ftp-password: --ftp-user: --ftps-clear-data-connection --ftps-fallback-to-ftp --ftps-implicit"
    " --ftps-resume-ssl --header: --hsts-file> --http-password: --http-user: --https-only --ignore-case --ignore-"
    " length --ignore-tags: --include-directories: --inet4-only --inet6-only --input-file< --keep-session-cookies"
    " --level: --limit-rate: --load-cookies< --local-encoding: --max-redirect: --method: --mirror --no-cache --no-"
    " check-certificate --no-clobber --no-config --no-cookies --no-directories --no-dns-cache --no-glob --no-host-"
    " directories --no-hsts --no-http-keep-alive --no-if-modified-since --no-iri --no-netrc --no-parent --no-passive-"
    " ftp --no-proxy --no-remove-listing --no-use-server-timestamps --no-verbose --no-warc-compression --no-warc-"
    " digests --no-warc-keep-log --output-document> --output-file> --page-requisites --password: --pinnedpubkey:"
    " --post-data: --post-file< --prefer-family: --preserve-permissions --private-key< --private-key-type: --progress:"
    " --protocol-directories --proxy-password: --proxy-user: --quiet --quota: --random-wait --read-timeout:"
    " --recursive --referer: --regex-type: --reject: --reject-regex: --rejected-log> --relative --remote-encoding:"
    " --report-speed: --restrict-file-names: --retr-symlinks --retry-connrefused --retry-on-http-error: --save-"
    " cookies> --save-headers --secure-protocol: --server-response --show-progress --span-hosts --spider --start-pos:"
    " --strict-comments --timeout: --timestamping --tries: --trust-server-names --unlink --use-askpass! --user:"
    " --user-agent: --verbose --wait: --waitretry: --warc-cdx --warc-dedup! --warc-file> --warc-header: --warc-max-"
    " size: --warc-tempdir> --xattr"
)
_SENDS = (
    *(
        "-d",
        "--data",
        "--data-ascii",
        "--data-binary",
        "--data-urlencode",
        "-F",
        "--form",
        "--json",
        "-b",
        "--cookie",
        "-H",
    ),
    *("--header", "--url-query", "--proxy-header", "-w", "--write-out"),
)
_OPEN_START = re.compile(r"(?!\[[\da-fA-F:]+\])[^/]*[{\[]")
"""An address whose beginning stands for several, which may be any."""
_FILE = re.compile(r"file:(?://(?:localhost)?)?(/[^{}\[\]*]*)", re.IGNORECASE)


def curl(effects: Effects, arguments: Sequence[Field]) -> None:
    parsed = take_options(effects, "curl", arguments, _CURL)
    addresses = [*parsed.operands, *parsed.values("--url")]
    if parsed.has("-O", "--remote-name", "-J", "--remote-header-name", "--remote-name-all"):
        effects.touch("write", *map(_last_part, addresses))
    for value in parsed.values(*_SENDS):
        _, at, _ = value.spelled.partition("@")
        if at:
            start = value.spelled.index("@") + 1
            effects.touch(
                "read", Field(value.spelled[start:], tuple(text[start:] for text in value.texts), value.known)
            )
        elif "=<" in value.spelled:
            start = value.spelled.index("=<") + 2
            effects.touch(
                "read", Field(value.spelled[start:], tuple(text[start:] for text in value.texts), value.known)
            )
    for value in parsed.values("-b", "--cookie"):
        if "=" not in value.spelled and "@" not in value.spelled:
            effects.touch("mention", value)
    for value in parsed.values("-F", "--form"):
        # several files, and what they are, may be said of one field
        start = max(value.spelled.find("=@"), value.spelled.find("=<")) + 2
        pieces = re.split(r"[,;]", value.spelled[start:]) if start > 1 else []
        effects.touch("mention", *(literal(piece.strip('"')) for piece in pieces))
    outputs = [value for value in parsed.values("-o", "--output") if "#" in value.spelled]
    for value in (
        *(value for value in parsed.values("-T", "--upload-file") if set("{[") & set(value.spelled)),
        *outputs,
    ):
        effects.doubts.append(Contained(f"`{value.spelled}` may name several files."))
    for value in parsed.values("-w", "--write-out"):
        if "%output" in value.spelled or not value.exact:
            effects.doubts.append(Contained(f"`{value.spelled}` may name a file that is written."))
    for address in addresses:
        _fetch(effects, address)


def _fetch(effects: Effects, address: Field) -> None:
    """An address of the file system is a file; one that only looks like it may be is doubted."""
    text = address.text or address.spelled
    if _OPEN_START.match(text):
        effects.doubts.append(f"`{text}` may name files of this machine.")
    if "file:" not in text.lower():
        return
    match = _FILE.fullmatch(text)
    if match is None or not address.exact:
        effects.doubts.append(f"`{text}` may name files of this machine.")
        return
    effects.touch("read", Field(match.group(1), (match.group(1),)))


def _last_part(address: Field) -> Field:
    """The name under which a download is stored when none is given."""
    name = address.spelled.partition("?")[0].rstrip("/").rpartition("/")[2]
    return Field(name, (name or "index.html",), address.known)


def wget(effects: Effects, arguments: Sequence[Field]) -> None:
    parsed = take_options(effects, "wget", arguments, _WGET)
    if not parsed.values("-O", "--output-document", "-P", "--directory-prefix") and not parsed.has("--spider"):
        effects.touch("write", *map(_last_part, parsed.operands))
    if parsed.has("-r", "--recursive", "-m", "--mirror"):
        effects.doubts.append(Contained("What `wget -r` stores, and under which names, is decided elsewhere."))


DOWNLOADS: Mapping[str, Handler] = {"curl": curl, "wget": wget}
