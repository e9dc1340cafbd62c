#!/usr/bin/env bash
# Tests log-in and sync with a real OpenLDAP server, which this script prepares and the test starts and ends.
# Arguments are given to go test, such as -run TestLogIn.
set -euo pipefail
cd "$(dirname "$0")/.."
. test/lib.sh
need /usr/sbin/slapd slapd
need openssl openssl
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=iris-test -addext subjectAltName=IP:127.0.0.1 \
  -keyout "$tmp/key.pem" -out "$tmp/ca.pem" 2>/dev/null

mkdir "$tmp/db"
cat >"$tmp/slapd.conf" <<EOF
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile $tmp/slapd.pid
TLSCACertificateFile $tmp/ca.pem
TLSCertificateFile $tmp/ca.pem
TLSCertificateKeyFile $tmp/key.pem
security simple_bind=128
database mdb
maxsize 104857600
suffix "dc=example,dc=com"
rootdn "cn=admin,dc=example,dc=com"
rootpw admin
directory $tmp/db
dbnosync
index objectClass,uid eq
sizelimit size.soft=500 size.hard=500 size.prtotal=unlimited
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="cn=iris,dc=example,dc=com" read by self read by * none
EOF

# Eleven hundred people are two pages.
{
  cat <<EOF
dn: dc=example,dc=com
objectClass: dcObject
objectClass: organization
dc: example
o: example

dn: cn=iris,dc=example,dc=com
objectClass: organizationalRole
objectClass: simpleSecurityObject
cn: iris
userPassword: finds

dn: ou=people,dc=example,dc=com
objectClass: organizationalUnit
ou: people

dn: ou=groups,dc=example,dc=com
objectClass: organizationalUnit
ou: groups

dn: uid=ann,ou=people,dc=example,dc=com
objectClass: inetOrgPerson
uid: ann
cn: Ann Lée
sn: Lée
mail: ann@example.com
mobile: 079 123 45 67
userPassword: ann's

dn: uid=printer,ou=people,dc=example,dc=com
objectClass: inetOrgPerson
uid: printer
cn: printer
sn: printer
userPassword: prints

dn: cn=ops,ou=groups,dc=example,dc=com
objectClass: groupOfNames
cn: ops
member: uid=ann,ou=people,dc=example,dc=com
member: uid=u0001,ou=people,dc=example,dc=com

dn: cn=everybody,ou=groups,dc=example,dc=com
objectClass: groupOfNames
cn: everybody
member: cn=ops,ou=groups,dc=example,dc=com
member: uid=printer,ou=people,dc=example,dc=com
member: uid=u0002,ou=people,dc=example,dc=com
EOF
  for i in $(seq -f '%04g' 1 1100); do
    printf '\ndn: uid=u%s,ou=people,dc=example,dc=com\nobjectClass: inetOrgPerson\nuid: u%s\ncn: User %s\nsn: %s\nmail: u%s@example.com\n' "$i" "$i" "$i" "$i" "$i"
  done
} >"$tmp/people.ldif"
sed -i 's/^cn: Ann Lée$/cn:: QW5uIEzDqWU=/; s/^sn: Lée$/sn:: TMOpZQ==/' "$tmp/people.ldif"
/usr/sbin/slapadd -q -f "$tmp/slapd.conf" -l "$tmp/people.ldif" 2>"$tmp/slapadd.log" || { cat "$tmp/slapadd.log" >&2; exit 1; }

IRIS_TEST_SLAPD=$tmp go test -count=1 -tags openldap -timeout 5m "$@" ./test/ldap
