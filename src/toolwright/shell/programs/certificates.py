"""Files of `openssl`: its subcommands and options known to be harmless; all else is doubted."""

import re
from collections.abc import Mapping, Sequence

from toolwright.shell.programs.arguments import Effects, Handler, paths_in, tail, two_dashes
from toolwright.shell.programs.options import take_options
from toolwright.shell.state.findings import Contained
from toolwright.shell.state.state import Field

_FILES = "-in< -out> -inform: -outform: -text -noout"
_KEYS = f"{_FILES} -passin: -passout: -pubin -pubout -check -traditional"
_RANDOM = "-rand< -writerand>"
_TLS = "-tls1 -tls1_1 -tls1_2 -tls1_3 -no_tls1 -no_tls1_1 -no_tls1_2 -no_tls1_3 -cipher: -ciphersuites: -alpn:"
_CHAIN = (
    "-CAfile< -CApath< -no-CAfile -no-CApath -untrusted< -trusted< -purpose: -crl_check -crl_check_all -CRLfile<"
    " -partial_chain -x509_strict -attime: -verify_hostname: -verify_depth: -verify_name: -check_ss_sig"
)
_DIGEST = "-hex -binary -r -c -out> -hmac: -mac: -macopt: -sign< -verify< -prverify< -signature< -keyform: -sigopt:"
_CODING = (
    "-in< -out> -e -d -a -A -base64 -k: -kfile< -pass: -salt -nosalt -S: -K: -iv: -p -P -pbkdf2 -iter: -md: -nopad"
    " -bufsize: -v -none -list -ciphers"
)
_OF = {
    "version": "-a -b -c -d -e -f -m -o -p -r -v",
    "help": "",
    "list": "-1 -v -verbose -commands -digest-commands -digest-algorithms -cipher-commands -cipher-algorithms -disabled"
    " -public-key-algorithms -mac-algorithms -kdf-algorithms -providers -options:",
    "ciphers": f"{_TLS} -s -v -V -stdname -psk -srp",
    "x509": f"{_FILES} -subject -issuer -dates -startdate -enddate -fingerprint -serial -pubkey -modulus -email -hash"
    " -subject_hash -issuer_hash -ext: -certopt: -nameopt: -purpose -checkend: -checkhost: -checkemail: -checkip:"
    " -req -days: -signkey< -key< -CA< -CAkey< -CAcreateserial -CAserial> -set_serial: -extfile< -extensions:"
    " -passin: -copy_extensions: -alias -ocsp_uri -ocspid -trustout -force_pubkey<",
    "req": f"{_KEYS} -new -newkey: -x509 -nodes -noenc -key< -keyout> -keyform: -days: -subj: -verify -pubkey -subject"
    " -modulus -batch -utf8 -addext: -extensions: -reqexts: -set_serial: -nameopt: -reqopt: -multivalue-rdn"
    f" -sigopt: -pkeyopt: -CA< -CAkey< -verbose {_RANDOM}",
    "rsa": f"{_KEYS} -modulus -RSAPublicKey_in -RSAPublicKey_out",
    "ec": f"{_KEYS} -param_out -param_enc: -conv_form: -no_public",
    "pkey": f"{_KEYS} -text_pub -pubcheck",
    "ecparam": f"{_FILES} -name: -genkey -list_curves -param_enc: -conv_form: -check {_RANDOM}",
    "dhparam": f"{_FILES} -check -dsaparam -2 -3 -5 {_RANDOM}",
    "genrsa": f"-out> -passout: -f4 -F4 -3 -traditional -primes: -verbose -quiet {_RANDOM}",
    "genpkey": f"-out> -outform: -algorithm: -pkeyopt: -pass: -paramfile< -genparam -text -quiet -verbose {_RANDOM}",
    "rand": f"-hex -base64 -out> {_RANDOM}",
    "prime": "-hex -generate -bits: -safe -checks:",
    "verify": f"{_CHAIN} -verbose -show_chain",
    "crl": f"{_FILES} -hash -issuer -lastupdate -nextupdate -fingerprint -crlnumber -nameopt: -CAfile< -CApath<",
    "pkcs7": f"{_FILES} -print_certs -print",
    "crl2pkcs7": "-in< -out> -inform: -outform: -nocrl -certfile<",
    "pkcs8": f"{_KEYS} -topk8 -nocrypt -v1: -v2: -v2prf: -iter: -noiter -scrypt",
    "pkcs12": f"{_KEYS} -export -inkey< -certfile< -CAfile< -password: -nokeys -nocerts -clcerts -cacerts -nodes -noenc"
    " -info -name: -caname: -legacy -keypbe: -certpbe: -macalg: -chain",
    "asn1parse": "-in< -out> -inform: -i -strparse: -offset: -length: -dump -dlimit: -noout -oid< -genstr:",
    "dgst": f"{_DIGEST} -list",
    **dict.fromkeys(("md5", "sha1", "sha224", "sha256", "sha384", "sha512"), _DIGEST),
    "enc": _CODING,
    "base64": _CODING,
    "passwd": "-1 -5 -6 -apr1 -salt: -stdin -in< -noverify -quiet -table -reverse",
    "speed": "-seconds: -bytes: -evp: -multi: -elapsed -mr -decrypt",
    "s_client": f"{_TLS} {_CHAIN} -connect: -host: -port: -servername: -noservername -showcerts -brief -quiet -cert<"
    " -key< -verify: -verify_return_error -starttls: -status -ign_eof -no_ign_eof -prexit -state -debug -msg -4 -6"
    " -proxy: -crlf -nocommands -sess_in< -sess_out> -keylogfile> -msgfile>",
}
"""Each subcommand with the options that load no code and read no settings."""
_ALGORITHM = re.compile(
    r"-(?:aes|aria|camellia|chacha20|des|sm4)[\d\w-]*|-(?:md5|sha\d+|sha[35]-\d+|sha512-\d+|blake2\w+)"
)
_PASSWORDS = ("--passin", "--passout", "--pass", "--password")
_GIVEN = ("pass:", "env:", "fd:", "stdin")
"""Beginnings of a password given otherwise than by a file."""


def openssl(effects: Effects, arguments: Sequence[Field]) -> None:
    """Options come with one dash, and many take a file; `-engine`, `-provider` and `-config` load what they name."""
    first = arguments[0] if arguments else None
    if first is None or not first.exact or first.text not in _OF:
        subcommand = first.spelled if first is not None else ""
        effects.doubts.append(
            Contained(f"`{f'openssl {subcommand}'.strip()}` is not among what is known to be harmless.")
        )
        for argument in arguments:
            effects.touch("read", *paths_in(argument))
        return
    own = [two_dashes(one) for one in arguments[1:] if not (one.exact and _ALGORITHM.fullmatch(one.text))]
    known = " ".join(f"-{word}" for word in _OF[first.text].split())
    parsed = take_options(effects, f"openssl {first.text}", own, known, in_full=True)
    effects.touch("read", *(path for one in parsed.operands for path in paths_in(one)))
    if first.text in ("verify", "dgst") or _OF[first.text] is _DIGEST:
        effects.touch("read", *parsed.operands)
    for value in parsed.values(*_PASSWORDS):
        if value.exact and value.text.startswith("file:"):
            effects.touch("read", tail(value, len("file:")))
        elif not value.spelled.startswith(_GIVEN):
            effects.doubts.append(Contained(f"`{value.spelled}` may be a file with a password."))


CERTIFICATES: Mapping[str, Handler] = {"openssl": openssl}
