//! Shapes in which a secret stands beside its name, one of each: what the rules were widened for. `‹A32›` is a secret as
//! `plant` makes it from `{A32}`.

use crate::{
    plant::{Chance, Place, make},
    recall::{cleaned, seen},
};

const SHAPES: &[&str] = &[
    "user = acme\npassword ‹p14›\n",
    "spring.datasource.password=‹p14›",
    "<password>‹p14›</password>",
    "api_key: &k ‹A32›",
    "data:\n  tls.key: ‹b120›\n",
    "_auth = ‹b32›",
    "requirepass ‹A32›",
    "mysqldump --password=‹p14› app",
    "sshpass -p '‹p14›' ssh u@h",
    "openssl pkcs12 -export -passout \"pass:‹p14›\" -in x",
    "curl -H 'X-Auth-Token: ‹A32›' https://x",
    "ldapsearch -x -D cn=admin -w ‹A14› -b dc=x",
    "net use Z: \\\\srv\\share /user:bob ‹p14›",
    "rsync --password-file=x; RSYNC_PASSWORD=‹p14› rsync a b",
    "vault login ‹A28›",
    "git clone https://bob:‹A30›@git.acme.dev/x.git",
    "ALTER ROLE x LOGIN ENCRYPTED PASSWORD '‹p14›';",
    "UPDATE users SET password='‹p14›' WHERE id=1;",
    "Client(api_key=\"‹A32›\", timeout=3)",
    "ENV['STRIPE_KEY'] ||= \"‹A32›\"",
    "'password' => env('DB_PASSWORD', '‹p14›'),",
    "let password: &str = \"‹p14›\";",
    "private String dbPassword = \"‹p14›\";",
    "auth=('bob', '‹p14›')",
    "server.login(user, '‹p14›')",
    "Driver={ODBC};SERVER=x;UID=a;PWD={‹p14›}",
    "https://x.blob.core.windows.net/c?sv=2020&ss=b&sig=‹A43›%3D",
    "https://api.x.y/v1?access_token=‹A32›&x=1",
    "https://api.x.y/reset?token=‹A40›",
    "rediss://default:‹A20›@cache:6379",
    "smtp://u:‹p12›@h:25",
    "https://hooks.slack.com/triggers/T‹U9›/123/‹x32›",
    "https://hook.eu1.make.com/‹a32›",
    "cookie: _ga=GA1.2; JSESSIONID=‹U32›",
    "X-Vault-Token: ‹A26›",
    "Authorization: ApiKey ‹b60›==",
    "Authorization: GenieKey ‹i›",
    "x-functions-key: ‹A56›==",
    "DD-API-KEY: ‹x32›",
    "2024-05-01T10:00:00Z INFO auth token=‹A32› user=bob",
    "my api key is ‹A32› please use it",
    "credentials: bob/‹p14›",
    "token ← ‹A32›",
    "|  12 | API_KEY=‹A32›",
    "\"{\\\"a\\\":{\\\"token\\\":\\\"‹A32›\\\"}}\"",
    "{\"value\":\"‹p14›\",\"name\":\"DB_PASSWORD\"}",
    "[\"mysql\",\"-u\",\"root\",\"-p‹A14›\"]",
    "--client-secret '‹A40›'",
    "-Password \"‹p14›\"",
    "setx API_KEY ‹A32›",
    "ENV API_KEY=‹A32›",
    "password \\\n  ‹p14›",
    "encryption_key: ‹b43›=",
    "SIGNING_KEY=‹x64›",
    "refresh_token: ‹A60›",
    "aws_session_token = ‹b200›",
    "access_token_secret=‹A45›",
    "deploy_key=‹b120›",
    "auth_token = ‹i›",
    "username admin privilege 15 password 0 ‹A12›",
    "-----BEGIN OPENSSH PRIVATE KEY-----\r\n‹b64›\r\n‹b64›\r\n‹b30›\r\n-----END OPENSSH PRIVATE KEY-----\r\n",
    "‹b64›\n‹b64›\n‹b64›\n-----END RSA PRIVATE KEY-----",
    "k.pem-2-‹b64›\nk.pem-3-‹b64›\nk.pem:4:-----END PRIVATE KEY-----",
    "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo‹b400›",
    "BEGIN PRIVATE KEY\n‹b64›\n‹b64›\nEND PRIVATE KEY",
    "mysql://root@db?pass=‹A16›",
    "Password → ‹p12›",
    "setPass('‹p14›')",
    "auth_basic: u:‹p14›",
    "helm install x --set-string secret.apiKey=‹A32›",
    "aws ssm put-parameter --name /prod/db/password --value '‹p14›' --type SecureString",
    "kubectl create secret docker-registry r --docker-password=‹A24›",
    "sentry-cli --auth-token ‹x64› releases",
    "wg set wg0 private-key ‹b43›=",
    "borg init; export BORG_PASSPHRASE='‹p14›'",
    "sqlplus sys/‹A14›@orcl",
    "clickhouse-client --password ‹p12›",
    "curl -XPOST x -d '{\"user\":\"a\",\"password\":\"‹p12›\"}'",
    "curl -sS -ubob:‹A20› x",
    "grpcurl -H 'authorization: Bearer ‹A60›' x",
    "req.Header.Set(\"Authorization\", \"Bearer ‹A40›\")",
    "X-Gitlab-Token: ‹A20›",
    "x-csrf-token=‹A32›",
    "\"cookie\": \"auth_token=‹x40›; ct0=‹x32›\"",
    "const { token = '‹A32›' } = opts",
    "pymysql.connect('h', 'u', '‹p14›', 'd')",
    "dsn := \"u:‹p12›@tcp(h)/d\"",
    "smtp_pass \"‹p12›\"",
    "sftp> password: ‹p12›",
    "Your new API token: ‹A40›",
    "\"SecretKey\" : \"‹A40›\"",
    "minio: MINIO_ROOT_PASSWORD: ‹A16›",
    "TWILIO_AUTH=‹x32›",
    "MAILGUN=key-‹x32›",
    "ROLLBAR_ACCESS_TOKEN=‹x32›",
    "OPENWEATHER_APPID=‹x32›",
    "client_secret: \"‹A3›8Q~‹w34›\"",
    "https://x/y?hmac=‹x64›",
    "https://x/y#access_token=‹A60›&token_type=bearer",
    "[url \"https://u:‹A30›@git.x/\"]\ninsteadOf = x",
    "secrets \"alice\" \"bob\" : PSK \"‹p12›\"",
    "rcon_password ‹p12›",
    "bindpw ‹p12›",
    "secret_key_base: ‹x128›",
    "jwt.verify(t, \"‹A32›\")",
    "cipher_key=‹x64›",
    "ANSIBLE_VAULT_PASSWORD=‹p12›",
    "truststore.password=‹p12›",
    "AUTH_HEADER=\"Basic ‹b32›\"",
    "ADO_PAT=‹a52›",
    "SLACK_SIGNING_SECRET=‹x32›",
    "oauth_consumer_secret: ‹A40›",
    "COINBASE_SECRET=‹A32›",
    "eth private key ‹x64›",
    "client-key-data: ‹b120›=",
    "#   -----BEGIN EC PRIVATE KEY-----\n#   ‹b64›\n#   ‹b48›==\n#   -----END EC PRIVATE KEY-----",
];

#[test]
fn each_shape_is_seen_through() {
    let mut through = Vec::new();
    for (n, shape) in SHAPES.iter().enumerate() {
        let mut chance = Chance::new(9000 + u64::try_from(n).unwrap());
        let (mut text, mut parts) = (String::new(), Vec::new());
        let mut rest = *shape;
        while let Some((before, after)) = rest.split_once('‹') {
            let (code, after) = after.split_once('›').unwrap();
            let made = make(&format!("{{{code}}}"), &mut chance);
            text.push_str(before);
            text.push_str(&made.text);
            parts.extend(made.parts);
            rest = after;
        }
        text.push_str(rest);
        through.extend(cleaned(Place::Tool(""), &text).into_iter().find(|clean| seen(clean, &parts)));
    }
    assert!(through.is_empty(), "{} of {}: {through:#?}", through.len(), SHAPES.len());
}
