#!/usr/bin/env bash
# Which callers and which TLS versions are accepted, and certificates that change while the server runs;
# then the report of `evenkeel certs` about certificates.
. "$(dirname "$0")/lib.sh"

state=tests/golden/state.json
request=tests/golden/filter/names-mode/request.json
good_answer=$(<tests/golden/filter/names-mode/expected.json)
days=86400

# ---- certificates ----

# Another client of the same CA, and everything of another CA.
mkdir "$work/intruder"
cp "$certs/ca.crt" "$certs/ca.key" "$work/intruder/"
"$evenkeel" certs init --dir "$work/intruder" --client-cn intruder >/dev/null
"$evenkeel" certs init --dir "$work/stranger" >/dev/null

# `openssl ca` can do what certs init will not: a certificate of the same CA that has expired.
issue() { # NAME SUBJECT EXTENSIONS FROM UNTIL
    mkdir "$work/$1"
    : >"$work/$1/index"
    printf '[ca]\ndefault_ca = x\n[x]\ndatabase = %s/index\nnew_certs_dir = %s\nrand_serial = yes\n' \
        "$work/$1" "$work/$1" >"$work/$1/conf"
    printf 'default_md = sha256\npolicy = p\n[p]\ncommonName = supplied\n[e]\n%b\n' "$3" >>"$work/$1/conf"
    openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$2" \
        -keyout "$work/$1/key" -out "$work/$1/csr" 2>/dev/null
    openssl ca -batch -notext -config "$work/$1/conf" -extensions e -startdate "$4" -enddate "$5" \
        -cert "$certs/ca.crt" -keyfile "$certs/ca.key" -in "$work/$1/csr" -out "$work/$1/crt" 2>/dev/null
}
client='extendedKeyUsage = clientAuth'
in_days() { date -u -d "@$((EPOCHSECONDS + $1 * days))" +%Y%m%d%H%M%SZ; }
issue expired system:kube-scheduler "$client" "$(in_days -20)" "$(in_days -10)"
issue future system:kube-scheduler "$client" "$(in_days 10)" "$(in_days 20)"
issue server-only system:kube-scheduler 'extendedKeyUsage = serverAuth' "$(in_days -1)" "$(in_days 20)"
issue by-dns somebody "$client\nsubjectAltName = DNS:scheduler.example.com" "$(in_days -1)" "$(in_days 20)"

# ---- who may call ----

start_server --state "$state" --extender-client-ca-file "$certs/ca.crt" \
    --extender-allowed-subject system:kube-scheduler --extender-allowed-subject dns:scheduler.example.com
url=https://$extender/extender/v1/filter

knock() { # [CERTIFICATE KEY]: "STATUS BODY"
    local certificate=()
    if [ $# -gt 0 ]; then certificate=(--cert "$1" --key "$2"); fi
    curl --silent --show-error --max-time "$PATIENCE" --cacert "$certs/ca.crt" "${certificate[@]}" \
        --header 'Content-Type: application/json' --data-binary @"$request" \
        --output "$work/body" --write-out '%{http_code} ' "$url" 2>&1 || true
    cat "$work/body"
}
is "the right certificate" "$(knock "$certs/client.crt" "$certs/client.key")" "200 $good_answer"
is "a name from subjectAltName" "$(knock "$work/by-dns/crt" "$work/by-dns/key" | cut -c 1-3)" 200
is "no certificate" "$(knock)" \
    '401 a client certificate is needed here: send one that the configured client CA has signed'
like "another CA's certificate" "$(knock "$work/stranger/client.crt" "$work/stranger/client.key")" \
    "^403 certificate of client 'system:kube-scheduler' refused: .*issuer is unknown"
like "another subject" "$(knock "$work/intruder/client.crt" "$work/intruder/client.key")" \
    "^403 client 'intruder' may not call this listener: "
like "an expired certificate" "$(knock "$work/expired/crt" "$work/expired/key")" \
    "^403 certificate of client 'system:kube-scheduler' refused: .*expired"
like "a certificate that is not valid yet" "$(knock "$work/future/crt" "$work/future/key")" \
    "^403 certificate of client 'system:kube-scheduler' refused: .*not yet"
like "a server's certificate" "$(knock "$work/server-only/crt" "$work/server-only/key")" \
    "^403 certificate of client 'system:kube-scheduler' refused: .*(purpose|TLS clients)"
is "refusals are logged with who and why" "$(grep -c 'msg="client refused" listener=extender peer=127.0.0.1:.* why=' "$log")" 6
is "refusals are counted" \
    "$(metric 'evenkeel_http_requests_total{listener="extender",verb="filter",code="403"}') $(metric \
        'evenkeel_http_requests_total{listener="extender",verb="other",code="403"}')" '0 5'
like "the path does not matter" "$(curl --silent --cacert "$certs/ca.crt" "https://$extender/nothing")" '^a client certificate is needed'

# ---- over which TLS ----

handshake() { # S_CLIENT OPTION...: "PROTOCOL CIPHER"; "refused" when the server, after a hello, hung up
    timeout "$PATIENCE" openssl s_client -connect "$extender" -CAfile "$certs/ca.crt" -verify_return_error \
        -cert "$certs/client.crt" -key "$certs/client.key" "$@" </dev/null >"$work/handshake" 2>&1 || true
    sed -nE 's/^New, (TLSv[0-9.]+), Cipher is (.+)/\1 \2/p' "$work/handshake" | head -n 1
    if grep -q '^SSL handshake has read 0 bytes and written [1-9]' "$work/handshake" &&
        grep -qE 'unexpected eof|alert (protocol version|handshake failure)' "$work/handshake"; then
        echo refused
    fi
}
old='@SECLEVEL=0' # so that the client offers it at all
is "TLS 1.1 is refused" "$(handshake -tls1_1 -cipher "ALL:$old")" refused
is "TLS 1.0 is refused" "$(handshake -tls1 -cipher "ALL:$old")" refused
like "TLS 1.2 is accepted" "$(handshake -tls1_2)" '^TLSv1.2 ECDHE-ECDSA-(AES.*-GCM|CHACHA20-POLY1305)'
like "TLS 1.3 is accepted" "$(handshake -tls1_3)" '^TLSv1.3 TLS_(AES_.*_GCM|CHACHA20_POLY1305)_SHA'
like "TLS 1.3 is preferred" "$(handshake)" '^TLSv1.3 '
is "CBC ciphers are refused" "$(handshake -tls1_2 -cipher "ECDHE-ECDSA-AES128-SHA256:ECDHE-ECDSA-AES256-SHA:$old")" refused
is "no session is resumed by a ticket" "$(handshake -tls1_2 >/dev/null; grep -c 'TLS session ticket:' "$work/handshake" || true)" 0
check "no crash" no_crash
stop_server INT

# Key exchange by RSA needs an RSA key to be refused for its own sake.
mkdir "$work/rsa"
openssl req -new -newkey rsa:2048 -nodes -subj /CN=evenkeel -addext 'subjectAltName = IP:127.0.0.1' -x509 \
    -days 10 -keyout "$work/rsa/tls.key" -out "$work/rsa/tls.crt" 2>/dev/null
start_server --state "$state" --extender-cert-file "$work/rsa/tls.crt" --extender-key-file "$work/rsa/tls.key"
handshake_rsa() { handshake -CAfile "$work/rsa/tls.crt" "$@"; }
is "RSA key exchange is refused" "$(handshake_rsa -tls1_2 -cipher "AES128-GCM-SHA256:AES256-GCM-SHA384:$old")" refused
is "DHE key exchange is refused" "$(handshake_rsa -tls1_2 -cipher "DHE-RSA-AES128-GCM-SHA256:$old")" refused
like "an RSA key with ECDHE is accepted" "$(handshake_rsa -tls1_2)" '^TLSv1.2 ECDHE-RSA-'
stop_server INT

# ---- certificates that change ----

# The layout of a Secret's volume: files are links into ..data, which is a link to a folder.
mkdir -p "$work/volume/..1"
cp "$certs"/tls.* "$work/volume/..1/"
ln -s ..1 "$work/volume/..data"
ln -s ..data/tls.crt ..data/tls.key "$work/volume/"
served=$work/volume/..1 # where the bytes are
start_server --state "$state" --state-poll-interval 50ms \
    --extender-cert-file "$work/volume/tls.crt" --extender-key-file "$work/volume/tls.key"
url=https://$extender/extender/v1/filter

fingerprint() { openssl x509 -noout -fingerprint -sha256 "$@"; }
seen() {
    timeout "$PATIENCE" openssl s_client -connect "$extender" </dev/null 2>/dev/null | fingerprint 2>/dev/null
}
serves() { [ "$(seen)" = "$(fingerprint -in "$1")" ]; }
check "the certificate that was configured" serves "$certs/tls.crt"

# Clients go on meanwhile, some with a connection per call, some with one for all.
load() { # NAME CURL OPTION...
    while [ ! -e "$work/enough" ]; do
        call 'filter?[1-5]' --fail --output /dev/null "${@:2}" <"$request" 2>>"$work/$1.failures" || true
        echo >>"$work/$1.calls"
    done
}
load fresh --header 'Connection: close' &
children+=($!)
load kept &
children+=($!)

# A pair that is renewed in place: two files, one after the other.
mkdir "$work/renewed"
cp "$certs"/ca.* "$work/renewed/"
renew() { # FOLDER
    "$evenkeel" certs init --dir "$work/renewed" >/dev/null
    cp "$work/renewed/tls.key" "$1/"
    cp "$work/renewed/tls.crt" "$1/"
}
reloads='evenkeel_certificate_reload_total{listener="extender",result="success"}'
refusals='evenkeel_certificate_reload_total{listener="extender",result="error"}'
for i in 1 2 3; do
    renew "$served"
    check "renewal $i of the pair is served" await serves "$work/renewed/tls.crt"
done

# The kubelet's way: a new folder, and ..data points to it from one moment to the next.
mkdir "$work/volume/..2"
renew "$work/volume/..2"
before=$(metric "$refusals")
ln -s ..2 "$work/volume/..data_tmp"
mv -T "$work/volume/..data_tmp" "$work/volume/..data"
served=$work/volume/..2
check "a swapped link is followed" await serves "$work/renewed/tls.crt"
is "... without seeing half of it" "$(metric "$refusals")" "$before"

# A key that belongs to another certificate.
from=$(log_end)
before=$(metric "$refusals")
cp "$work/stranger/tls.key" "$work/new.key"
mv "$work/new.key" "$served/tls.key" # whole: half a key would be counted, too
check "a pair that does not belong together is refused" wait_log \
    'level=error msg="changed certificate file refused, its old content stays in use".*do not belong together' "$from"
is "... is counted" "$(metric "$refusals")" $((before + 1))
check "... and the old one is served" serves "$work/renewed/tls.crt"
from=$(log_end)
echo 'no certificate at all' >"$served/tls.crt"
check "garbage is refused" wait_log 'level=error msg="changed certificate file refused.*no PEM certificates' "$from"
check "... and the old one is served" serves "$work/renewed/tls.crt"
from=$(log_end)
rm "$served/tls.crt"
check "a file that is gone is refused" wait_log 'level=error msg="changed certificate file refused.*No such file' "$from"
check "... and the old one is served" serves "$work/renewed/tls.crt"
before=$(metric "$reloads")
renew "$served"
check "a good pair is served again" await serves "$work/renewed/tls.crt"
check "... and counted" test "$(metric "$reloads")" -gt "$before"

touch "$work/enough"
wait "${children[@]}"
children=()
is "no call failed meanwhile" "$(cat "$work"/*.failures)" ''
check "... of many" test "$(cat "$work/fresh.calls" "$work/kept.calls" | wc -l)" -gt 20
check "no crash" no_crash
stop_server INT

# The client CA changes: a connection that is kept is judged by the new one, too.
cp "$certs/ca.crt" "$work/clients.crt"
start_server --state "$state" --state-poll-interval 50ms --extender-client-ca-file "$work/clients.crt"
url=https://$extender/extender/v1/filter
is "a client of our CA may call" "$(knock "$certs/client.crt" "$certs/client.key" | cut -c 1-3)" 200
is "a stranger may not" "$(knock "$work/stranger/client.crt" "$work/stranger/client.key" | cut -c 1-3)" 403
cat "$work/stranger/ca.crt" >>"$work/clients.crt"
stranger_may() { [ "$(knock "$work/stranger/client.crt" "$work/stranger/client.key" | cut -c 1-3)" = 200 ]; }
check "when their CA is added, they may" await stranger_may
is "... and ours still" "$(knock "$certs/client.crt" "$certs/client.key" | cut -c 1-3)" 200
cp "$work/stranger/ca.crt" "$work/clients.crt"
ours_may_not() { [ "$(knock "$certs/client.crt" "$certs/client.key" | cut -c 1-3)" = 403 ]; }
check "when ours is removed, ours may not" await ours_may_not
check "no crash" no_crash
stop_server INT

# ---- evenkeel certs ----

said() { # EVENKEEL ARGUMENT...: "EXIT-CODE OUTPUT"
    local code=0 output
    output=$("$evenkeel" "$@" 2>&1) || code=$?
    echo "$code $output"
}
is "certs init: a name that no certificate can have" \
    "$(said certs init --dir "$work/none" --client-cn "$(printf '%65s' '' | tr ' ' x)" | head -n 1)" \
    "2 evenkeel certs init: --client-cn: '$(printf '%65s' '' | tr ' ' x)' is not between 1 and 64 bytes long"
like "certs check: all is well" "$(said certs check --cert "$certs/tls.crt" --key "$certs/tls.key" \
    --ca "$certs/ca.crt" --host localhost --host 127.0.0.1)" '^0 ok: valid until .* \(36[45] days left\)$'
like "certs check: another key" "$(said certs check --cert "$certs/tls.crt" --key "$work/stranger/tls.key")" \
    '^1 .*/tls.key: the key does not belong to the certificate '
like "certs check: another host" "$(said certs check --cert "$certs/tls.crt" --key "$certs/tls.key" --host other.example.com)" \
    "^1 .*/tls.crt: the certificate is not for host 'other.example.com'"
like "certs check: another CA" "$(said certs check --cert "$certs/tls.crt" --key "$certs/tls.key" --ca "$work/stranger/ca.crt")" \
    '^1 .*/tls.crt: the certificate does not lead to the CA in '
chmod 600 "$work/expired/key"
like "certs check: expired" "$(said certs check --cert "$work/expired/crt" --key "$work/expired/key")" \
    '^1 .*/expired/crt: the certificate expired on '
like "certs check: about to expire" "$(said certs check --cert "$certs/tls.crt" --key "$certs/tls.key" --within 400)" \
    '^1 .*/tls.crt: the certificate expires in 36[45] days'
chmod 644 "$work/intruder/tls.key"
like "certs check: a key that everybody can read" "$(said certs check --cert "$work/intruder/tls.crt" --key "$work/intruder/tls.key")" \
    '^1 .*/tls.key: the key is open to every user \(mode 0644\): chmod 600'
is "certs check: all problems at once" \
    "$("$evenkeel" certs check --cert "$work/expired/crt" --key "$work/stranger/tls.key" --ca "$work/stranger/ca.crt" \
        --host localhost | grep -cE 'expired on|not for servers|no subject alternative|not for host|does not belong')" 5
like "certs check: no such file" "$(said certs check --cert "$work/nothing" --key "$certs/tls.key")" \
    "^1 .*cannot open '.*/nothing': No such file or directory"
is "certs check: wrong usage" "$(said certs check --cert x | head -n 1)" '2 evenkeel certs check: give --cert FILE and --key FILE'

shown=$("$evenkeel" certs show "$certs/ca.crt" "$certs/tls.crt" "$certs/client.crt")
like "certs show: the CA" "$(paste -s <<<"$shown")" \
    'ca.crt\s+usage +certificate authority\s+subject +CN=evenkeel-ca\s+issuer +itself\s'
like "certs show: the server's names" "$shown" 'names +.*localhost.*127\.0\.0\.1'
like "certs show: the client" "$shown" 'subject +.*system:kube-scheduler'
is "certs show: as openssl sees it" \
    "$("$evenkeel" certs show -o json "$certs/tls.crt" | jq -r '.[0].sha256' | tr -d : | tr a-f A-F)" \
    "$(fingerprint -in "$certs/tls.crt" | cut -d = -f 2 | tr -d :)"
is "certs show: what follows from it" \
    "$("$evenkeel" certs show -o json "$certs/ca.crt" "$certs/tls.crt" | jq -c 'map([.ca, .daysLeft > 360])')" '[[true,true],[false,true]]'
like "certs show: not a certificate" "$(said certs show "$certs/tls.key")" "^1 .*cannot show '.*/tls.key'"
is "a renewed certificate is of the same CA" \
    "$(openssl verify -CAfile "$certs/ca.crt" "$work/renewed/tls.crt" "$work/renewed/client.crt" | cut -d ' ' -f 2 | paste -s -d ' ')" 'OK OK'
finish_tests
