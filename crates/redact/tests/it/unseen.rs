//! Secrets as they leak in terminals, logs, diffs, settings and source, written by somebody who had not read the rules
//! nor the other sets. A rule may be made better because of a plant here; a plant is never changed to suit a rule.

use crate::plant::Form::{Acp, Claude, ClaudeTool, Codex, OpenCode};
use crate::plant::Place::{Diff, Error, FileName, Goal, Stream, Tool};
use crate::plant::Plant;

/// A row is a kind, a pattern and a place.
macro_rules! plants {
    ($($kind:literal $pattern:literal $place:expr;)*) => {
        &[$(Plant { kind: $kind, pattern: $pattern, place: $place }),*]
    };
}

pub(crate) const PLANTS: &[Plant] = plants! {
    // Forges.
    "github" "ghp_{A36}" Tool("origin\thttps://deploy:§@github.com/acme/billing.git (fetch)\norigin\tgit@github.com:acme/billing.git (push)");
    "github" "gho_{A36}" Tool("github.com\n  ✓ Logged in to github.com account mira (/home/mira/.config/gh/hosts.yml)\n  - Git operations protocol: https\n  - Token: §\n  - Token scopes: 'gist', 'repo'");
    "github" "ghs_{A36}" Error("fatal: unable to access 'https://x-access-token:§@github.com/acme/infra/': The requested URL returned error: 403");
    "github" "github_pat_{A22}_{A59}" Diff("--- a/.github/workflows/sync.yml\n+++ b/.github/workflows/sync.yml\n@@ -14,3 +14,3 @@\n       - uses: actions/checkout@v4\n-          token: ${{ secrets.SYNC }}\n+          token: §\n");
    "github" "ghp_{A36}" Tool("\u{1b}[90m2024-11-02T08:14:55Z\u{1b}[0m \u{1b}[33m§\u{1b}[0m pushed refs/heads/main");
    "github" "ghu_{A36}" Stream(Claude, 3, "I found a user token in the editor's state: `§`. You should revoke it.");
    "gitlab" "glpat-{w20}" Tool("$ curl -sS --header \"PRIVATE-TOKEN: §\" https://git.example.org/api/v4/projects/81/pipelines");
    "gitlab" "glrt-{w20}" Tool("[[runners]]\n  name = \"shell-02\"\n  url = \"https://git.example.org/\"\n  id = 44\n  token = \"§\"\n  executor = \"shell\"");
    "gitlab" "glptt-{x40}" Error("curl: (22) The requested URL returned error: 404\n+ curl -X POST --fail -F token=§ -F ref=main https://git.example.org/api/v4/projects/9/trigger/pipeline");
    "gitlab" "gldt-{w20}" Stream(Acp, 5, "helm repo add acme https://git.example.org/helm --username gitlab+deploy --password §");
    "bitbucket" "ATBB{A32}" Tool("remote: Counting objects\nTo https://x-token-auth:§@bitbucket.org/acme/site.git\n   4c1f..9ae2  main -> main");
    "atlassian" "ATATT3xFfGF0{w171}={x8}" Tool("JIRA_USER=ops@example.org\nJIRA_TOKEN=§\nJIRA_BASE=https://acme.atlassian.net");
    "sourcegraph" "sgp_{x16}_{x40}" Goal("src login keeps failing with SRC_ACCESS_TOKEN=§ — find out why");

    // Clouds.
    "aws" "AKIA{U16}" Tool("An error occurred (AccessDenied) when calling the PutObject operation: user with key § is not authorized");
    "aws" "{b40}" Tool("[default]\naws_access_key_id = AKIA_SEE_VAULT\naws_secret_access_key = §\nregion = eu-central-1");
    "aws" "Access key ID,Secret access key\nAKIA{U16},{b40}" Tool("$ cat ~/Downloads/ci-bot_accessKeys.csv\n§\n");
    "aws" "{b40}" Tool("-----------------------------------------------\n|                 CreateAccessKey             |\n||  SecretAccessKey |  §  ||\n||  Status          |  Active  ||");
    "aws" "FwoGZXIvYXdzE{b280}==" Tool("{\n    \"Credentials\": {\n        \"SessionToken\": \"§\",\n        \"Expiration\": \"2025-02-11T14:00:00Z\"\n    }\n}");
    "aws" "{b40}" Stream(Codex, 7, "export AWS_REGION=us-west-2\nexport AWS_SECRET_ACCESS_KEY=\"§\"\nmake deploy");
    "aws" "ASIA{U16}" FileName("exports/sts-§.json");
    "aws" "{x64}" Tool("GET https://acme-dumps.s3.amazonaws.com/nightly.sql.gz?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date=20250103T101112Z&X-Amz-Expires=604800&X-Amz-SignedHeaders=host&X-Amz-Signature=§");
    "google" "AIza{w35}" Diff("@@ -7,7 +7,7 @@\n <script>\n-  const KEY = '';\n+  const KEY = '§';\n   maps.load(KEY);\n");
    "google" "AIza{w35}" Tool("    <string name=\"google_maps_key\" templateMergeStrategy=\"preserve\" translatable=\"false\">§</string>");
    "google" "GOCSPX-{w28}" Tool("{\"installed\":{\"client_id\":\"8123-acme.apps.googleusercontent.com\",\"client_secret\":\"§\",\"redirect_uris\":[\"http://localhost\"]}}");
    "google" "ya29.{w180}" Tool("$ gcloud auth print-access-token\n§\n");
    "google" "1//0{w98}" Stream(OpenCode, 11, "{\n  \"account\": \"\",\n  \"refresh_token\": \"§\",\n  \"type\": \"authorized_user\"\n}");
    "google" "-----BEGIN PRIVATE KEY-----\\n{b64}\\n{b64}\\n{b64}\\n{b40}==\\n-----END PRIVATE KEY-----\\n" Tool("{\n  \"type\": \"service_account\",\n  \"project_id\": \"acme-prod\",\n  \"private_key\": \"§\",\n  \"client_email\": \"ci@acme-prod.iam.gserviceaccount.com\"\n}");
    "azure" "{b86}==" Tool("DefaultEndpointsProtocol=https;AccountName=acmelogs;AccountKey=§;EndpointSuffix=core.windows.net");
    "azure" "{b43}=" Error("Azure.Messaging.ServiceBusException: put token failed for Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKeyName=RootManage;SharedAccessKey=§");
    "azure" "{A3}8Q~{w34}" Tool("{\n  \"appId\": \"see-portal\",\n  \"displayName\": \"ci\",\n  \"password\": \"§\",\n  \"tenant\": \"acme.onmicrosoft.com\"\n}");
    "azure" "{A43}%3D" Tool("azcopy cp ./out 'https://acmelogs.blob.core.windows.net/raw?sv=2022-11-02&ss=b&srt=co&sp=rwl&se=2026-01-01T00:00:00Z&sig=§'");
    "digitalocean" "dop_v1_{x64}" Tool("  1042  doctl auth init -t §\n  1043  doctl compute droplet list");
    "digitalocean" "dop_v1_{x64}" Stream(ClaudeTool, 4, r#"{"command":"DIGITALOCEAN_ACCESS_TOKEN=§ terraform apply -auto-approve","timeout":600000}"#);
    "cloudflare" "{w40}" Tool("[env.production.vars]\nCLOUDFLARE_API_TOKEN = \"§\"\nZONE = \"example.org\"");
    "cloudflare" "{x37}" Tool("> GET /client/v4/zones HTTP/2\n> Host: api.cloudflare.com\n> X-Auth-Email: ops@example.org\n> X-Auth-Key: §\n> Accept: */*");
    "alibaba" "{A30}" Tool("{\"mode\":\"AK\",\"access_key_id\":\"from-console\",\"access_key_secret\":\"§\",\"region_id\":\"cn-hangzhou\"}");
    "heroku" "{i}" Tool("$ heroku config -a acme-web\n=== acme-web Config Vars\nHEROKU_API_KEY:     §\nLANG:               en_US.UTF-8");
    "netlify" "nfp_{A36}" Error("Error: JSONHTTPError: Unauthorized\n    at deploy (--auth §)");
    "vercel" "{A24}" Tool("Run npx vercel deploy --prebuilt --token=§\nVercel CLI 37.4.2");
    "fly" "FlyV1 fm2_{b180}" Tool("$ fly tokens create deploy\n§\n");
    "render" "rnd_{A28}" Goal("use the render api (bearer §) to restart the worker");
    "tailscale" "tskey-auth-{A12}CNTRL-{A32}" Tool("cloud-init[812]: + tailscale up --authkey §  --hostname=edge-3");

    // Models.
    "openai" "sk-proj-{w74}T3BlbkFJ{w74}" Error("openai.AuthenticationError: Error code: 401 - {'error': {'message': 'Incorrect API key provided: §. You can find your API key at …'}}");
    "openai" "sk-{A20}T3BlbkFJ{A20}" Tool("In [3]: client = OpenAI(api_key='§')");
    "openai" "sk-svcacct-{w58}T3BlbkFJ{w58}" Stream(Claude, 9, "The notebook's third cell sets the key to §, which is committed.");
    "anthropic" "sk-ant-api03-{w93}AA" Diff("diff --git a/.envrc b/.envrc\n@@ -1 +1,2 @@\n use flake\n+export ANTHROPIC_API_KEY=§\n");
    "anthropic" "sk-ant-oat01-{w93}AA" Stream(Acp, 2, "claudeAiOauth.accessToken → §");
    "groq" "gsk_{A52}" Tool("2025/01/19 21:40:02 main.go:31: cfg={Model:llama Key:§ Timeout:30s}");
    "huggingface" "hf_{A34}" Tool("Traceback (most recent call last):\n  File \"train.py\", line 12, in <module>\n    login(\"§\")\nValueError: Invalid token passed!");
    "huggingface" "hf_{A34}" FileName("models/§/config.json");
    "replicate" "r8_{A37}" Tool("os.environ[\"REPLICATE_API_TOKEN\"] = \"§\"");
    "openrouter" "sk-or-v1-{x64}" Stream(Codex, 13, "curl https://openrouter.ai/api/v1/models -H 'Authorization: Bearer §'");
    "perplexity" "pplx-{A48}" Tool("models:\n  - name: sonar\n    apiKey: §\n    roles: [chat]");
    "xai" "xai-{A80}" Goal("My key is § please add it to the CI variables and try grok");
    "langsmith" "lsv2_pt_{x32}_{x10}" Tool("LANGCHAIN_TRACING_V2=true\nLANGCHAIN_API_KEY=\"§\"");
    "wandb" "{x40}" Tool("wandb: Appending key for api.wandb.ai to your netrc file: /root/.netrc\n$ cat /root/.netrc\nmachine api.wandb.ai\n  login user\n  password §\n");

    // Package registries.
    "npm" "npm_{A36}" Tool("//registry.npmjs.org/:_authToken=§\nalways-auth=true");
    "npm" "{i}" Tool("registry=https://npm.example.org/\n//npm.example.org/:_authToken=§");
    "npm" "npm_{A36}" Diff("--- a/.yarnrc.yml\n+++ b/.yarnrc.yml\n@@ -1,2 +1,3 @@\n nodeLinker: node-modules\n+npmAuthToken: '§'\n");
    "npm" "npm_{A36}" Stream(OpenCode, 1, "docker build --build-arg NPM_TOKEN=§ -t web .");
    "pypi" "pypi-AgEIcHlwaS5vcmc{w150}" Tool("[pypi]\n  username = __token__\n  password = §\n");
    "pypi" "pypi-AgEIcHlwaS5vcmc{w150}" Error("twine upload -u __token__ -p § dist/*\nERROR    HTTPError: 403 Forbidden from https://upload.pypi.org/legacy/");
    "rubygems" "rubygems_{x48}" Tool("---\n:rubygems_api_key: §\n");
    "crates" "cio{A32}" Tool("# ~/.cargo/credentials.toml\n[registry]\ntoken = \"§\"");
    "nuget" "oy2{a43}" Tool("PS C:\\src\\acme> dotnet nuget push .\\bin\\Release\\Acme.1.2.0.nupkg --api-key § --source https://api.nuget.org/v3/index.json");
    "artifactory" "AKCp{A69}" Tool("pip.conf:2:index-url = https://ci:§@artifacts.example.org/api/pypi/pypi/simple");
    "docker" "dckr_pat_{w27}" Tool("$ docker login -u acmebot -p §\nWARNING! Using --password via the CLI is insecure.");
    "docker" "{b48}" Tool("{\n\t\"auths\": {\n\t\t\"https://index.docker.io/v1/\": {\n\t\t\t\"auth\": \"§\"\n\t\t}\n\t}\n}");
    "docker" "{b52}==" Stream(Claude, 6, "`~/.docker/config.json` contains {\"auths\":{\"ghcr.io\":{\"auth\":\"§\"}}}.");
    "composer" "{x40}" Tool("{\"http-basic\": {\"repo.example.org\": {\"username\": \"build\", \"password\": \"§\"}}}");
    "maven" "{p18}" Diff("@@ -22,4 +22,4 @@\n     <server>\n       <id>releases</id>\n       <username>deployer</username>\n-      <password>${env.MVN}</password>\n+      <password>§</password>\n     </server>\n");
    "nuget" "{A22}" Tool("<packageSourceCredentials>\n  <Acme>\n    <add key=\"Username\" value=\"build\" />\n    <add key=\"ClearTextPassword\" value=\"§\" />\n  </Acme>\n</packageSourceCredentials>");

    // Chat and mail.
    "slack" "xoxb-{d12}-{d13}-{A24}" Tool("{\"level\":30,\"time\":1731000000000,\"msg\":\"starting bolt app\",\"opts\":{\"token\":\"§\",\"port\":3000}}");
    "slack" "xapp-1-A{U10}-{d13}-{x64}" Tool("SLACK_APP=§ node bot.js");
    "slack" "xoxp-{d12}-{d12}-{d13}-{x32}" FileName("C:\\Users\\lena\\Desktop\\slack §.txt");
    "slack webhook" "{A24}" Tool("alertmanager.yml:18:  slack_api_url: https://hooks.slack.com/services/T00TEAM00/B00CHANNEL0/§");
    "slack webhook" "{A24}" Stream(Codex, 8, "I will post to https://hooks.slack.com/services/T00TEAM00/B00CHANNEL0/§ when it is done.");
    "discord" "MT{A24}.{A6}.{w38}" Tool("bot.py:88: bot.run('§')");
    "discord webhook" "{w68}" Error("requests.exceptions.HTTPError: 429 Client Error: Too Many Requests for url: https://discord.com/api/webhooks/112233445566778899/§");
    "telegram" "{d10}:AA{w33}" Tool("httpx INFO HTTP Request: POST https://api.telegram.org/bot§/getUpdates \"HTTP/1.1 200 OK\"");
    "telegram" "{d10}:AA{w33}" Stream(Acp, 4, "TELEGRAM_BOT_TOKEN = \"§\"  # from BotFather");
    "teams webhook" "{x32}" Tool("webhook_url = \"https://acme.webhook.office.com/webhookb2/group@tenant/IncomingWebhook/§/owner\"");
    "sendgrid" "SG.{w22}.{w43}" Tool("$mail = new \\SendGrid('§');");
    "sendgrid" "SG.{w22}.{w43}" Stream(ClaudeTool, 10, r#"{"file_path":"/srv/app/mailer.py","content":"SMTP_USER = 'apikey'\nSMTP_PASS = '§'\n"}"#);
    "mailgun" "key-{x32}" Tool("curl -s --user 'api:§' https://api.mailgun.net/v3/mg.example.org/messages -F to=a@example.org");
    "mailchimp" "{x32}-us14" Tool("MAILCHIMP_API_KEY: §");
    "brevo" "xkeysib-{x64}-{A16}" Tool("  'api-key' => '§',");
    "twilio" "{x32}" Tool("twilio:\n    account_sid: ACxxxxxxxx\n    auth_token:  §");
    "twilio" "SK{x32}" Error("TwilioRestException: HTTP 401 error: Unable to create record: Authenticate (api key §)");

    // Payment.
    "stripe" "sk_live_51{A97}" Tool("app/billing.rb:4:Stripe.api_key = '§'");
    "stripe" "rk_live_{A24}" Goal("Why does the restricted key § get 'permission denied' on /v1/charges?");
    "stripe" "whsec_{A32}" Tool("> Ready! You are using Stripe API Version [2024-06-20]. Your webhook signing secret is § (^C to quit)");
    "stripe" "sk_test_{A24}" Stream(Claude, 5, "const stripe = require('stripe')('§');");
    "shopify" "shpat_{x32}" Tool("X-Shopify-Access-Token: §");
    "square" "EAAA{w60}" Tool("square.access_token=§\nsquare.environment=production");
    "paypal" "{w80}" Tool("paypal:\n  mode: live\n  client_id: see dashboard\n  client_secret: §");
    "braintree" "access_token$production${a16}${x32}" Diff("+  gateway = braintree.BraintreeGateway(access_token=\"§\")\n");
    "razorpay" "{A24}" Tool("var instance = new Razorpay({ key_id: process.env.RZP, key_secret: '§' })");
    "plaid" "access-production-{i}" Error("PlaidError: ITEM_LOGIN_REQUIRED for access_token=§ request_id=Hq8d");
    "flutterwave" "FLWSECK-{x32}-X" Tool("FLW_SECRET=§");

    // Work tools and watching.
    "linear" "lin_api_{A40}" Tool("curl -H 'Authorization: §' -d '{\"query\":\"{ viewer { id } }\"}' https://api.linear.app/graphql");
    "notion" "ntn_{A46}" Tool("notion = Client(auth=\"§\")");
    "airtable" "pat{A14}.{x64}" Stream(OpenCode, 7, "Airtable.configure({ apiKey: '§' })");
    "figma" "figd_{w40}" Tool("X-Figma-Token: §\n");
    "postman" "PMAK-{x24}-{x34}" Tool("newman run https://api.getpostman.com/collections/77?apikey=§");
    "hubspot" "pat-na1-{i}" Tool("hubspot.config.yml\n    personalAccessKey: >-\n      §\n");
    "contentful" "CFPAT-{w43}" Tool("contentful space export --management-token §");
    "launchdarkly" "sdk-{i}" Tool("LD_SDK_KEY=§");
    "okta" "00{w40}" Tool("Authorization: SSWS §");
    "datadog" "{x32}" Tool("## datadog.yaml\napi_key: §\nsite: datadoghq.eu");
    "datadog" "{x40}" Error("Error: 403 Forbidden\n  with provider[\"registry.terraform.io/datadog/datadog\"],\n  on main.tf line 9:\n   9:   app_key = \"§\"");
    "newrelic" "NRAK-{U27}" Tool("NEW_RELIC_API_KEY=§ newrelic install");
    "grafana" "glsa_{A32}_{x8}" Tool("grafana-cli --token § ls");
    "grafana" "glc_{b120}=" Stream(Acp, 16, "remote_write:\n  - url: https://prom.example.org/api/prom/push\n    basic_auth:\n      username: 4411\n      password: §\n");
    "sentry" "sntryu_{x64}" Tool("[auth]\ntoken=§\n[defaults]\norg=acme");
    "dynatrace" "dt0c01.{U24}.{U64}" Tool("Authorization: Api-Token §");
    "splunk" "{i}" Tool("curl -k https://splunk.example.org:8088/services/collector -H 'Authorization: Splunk §' -d '{\"event\":\"x\"}'");
    "databricks" "dapi{x32}" Tool("[DEFAULT]\nhost  = https://adb-1.azuredatabricks.net\ntoken = §");
    "sonar" "squ_{x40}" Tool("[INFO] mvn sonar:sonar -Dsonar.host.url=https://sonar.example.org -Dsonar.login=§");
    "circleci" "CCIPAT_{A22}_{x40}" Tool("Circle-Token: §");
    "buildkite" "bkua_{x40}" Tool("BUILDKITE_API=§");

    // Stores of secrets and of state.
    "vault" "hvs.{w95}" Tool("Key                  Value\n---                  -----\ntoken                §\ntoken_accessor       (hidden)\ntoken_duration       ∞");
    "vault" "{p16}" Tool("======= Data =======\nKey         Value\n---         -----\nusername    app\npassword    §\n");
    "vault" "hvs.{w95}" Stream(Codex, 3, "VAULT_TOKEN=§ vault read database/creds/ro");
    "terraform" "{A14}.atlasv1.{w67}" Tool("credentials \"app.terraform.io\" {\n  token = \"§\"\n}");
    "terraform" "{p16}" Tool("  # aws_db_instance.main will be created\n  \u{1b}[32m+\u{1b}[0m resource \"aws_db_instance\" \"main\" {\n      \u{1b}[32m+\u{1b}[0m \u{1b}[1mpassword\u{1b}[0m = \"§\"\n    }");
    "terraform" "{A20}\" -> \"{A20}" Tool("      ~ master_password = \"§\"\n        id              = \"db-1\"");
    "doppler" "dp.pt.{A43}" Tool("doppler configure set token § --scope /");
    "pulumi" "pul-{x40}" Stream(Claude, 12, "Set `PULUMI_ACCESS_TOKEN` to `§` and run the preview again.");
    "planetscale" "pscale_pw_{w43}" Tool("DATABASE_URL='mysql://u1:§@aws.connect.psdb.cloud/shop?ssl={\"rejectUnauthorized\":true}'");
    "supabase" "sbp_{x40}" Tool("supabase link --project-ref abcd  # SUPABASE_ACCESS_TOKEN § ");
    "mapbox" "sk.eyJ{w86}.{w22}" Tool("MAPBOX_DOWNLOADS_TOKEN=§");
    "firebase" "AAAA{w7}:APA91b{w134}" Tool("> POST https://fcm.googleapis.com/fcm/send\n> Authorization: key=§\n> Content-Type: application/json");

    // Databases and queues.
    "database url" "{A18}" Tool("sqlalchemy.exc.OperationalError: could not connect to postgresql+psycopg2://shop:§@10.2.0.14:5432/shop?sslmode=require");
    "database url" "npg_{A12}" Diff("-DATABASE_URL=postgres://localhost/dev\n+DATABASE_URL=postgres://neondb_owner:§@ep-cool-1.eu-central-1.aws.neon.tech/neondb\n");
    "database url" "{p14}" Tool("mongodb+srv://root:§@cluster0.ab1cd.mongodb.net/?retryWrites=true&w=majority");
    "database url" "{w32}" Tool("[2025-01-04 10:11:12,345: INFO/MainProcess] Connected to redis://:§@cache.internal:6379/0");
    "database url" "{A16}" Tool("services:\n  worker:\n    environment:\n      - AMQP_URL=amqps://svc:§@mq.example.org/vhost");
    "database url" "{A12}%40{A8}" Tool("goose: dial mysql://etl:§@db-7.internal:3306/warehouse: i/o timeout");
    "database url" "{A20}" Stream(ClaudeTool, 6, r#"{"command":"psql \"postgresql://admin:§@db.example.org/app\" -c 'select 1'"}"#);
    "database url" "{A20}" Stream(OpenCode, 5, "clickhouse://default:§@ch.example.org:9440/events?secure=true is what the worker uses");
    "ado string" "{p15}" Tool("<add name=\"Main\" connectionString=\"Server=tcp:sql1.example.org,1433;Initial Catalog=Shop;User ID=sa;Password=§;Encrypt=True;\" providerName=\"System.Data.SqlClient\" />");
    "ado string" "{A14}" Error("System.ArgumentException: Keyword not supported: 'driver'. Driver={ODBC Driver 18 for SQL Server};Server=sql2;UID=report;PWD=§;Database=Mart");
    "ado string" "{A14}" Stream(Acp, 3, "\"Default\": \"Host=pg1;Port=5432;Username=api;Password=§;Database=api\"");
    "jdbc" "{A16}" Tool("java.sql.SQLException: No suitable driver found for jdbc:mysql://db1:3306/crm?user=crm&password=§&useSSL=false");
    "jdbc" "{A14}" Tool("spring:\n  datasource:\n    url: jdbc:oracle:thin:@//ora1:1521/PDB\n    username: hr\n    password: §\n");
    "dsn words" "{A15}" Tool("failed to connect to `host=db user=svc database=app`: dsn \"host=db port=5432 user=svc password=§ dbname=app sslmode=disable\"");
    "go dsn" "{A16}" Tool("db, err := sql.Open(\"mysql\", \"root:§@tcp(127.0.0.1:3306)/inventory?parseTime=true\")");
    "sql" "{p14}" Tool("mysql> CREATE USER 'etl'@'%' IDENTIFIED BY '§';\nQuery OK, 0 rows affected (0.01 sec)");
    "sql" "{A18}" Error("2025-01-08 09:00:01.120 UTC [311] ERROR:  role \"app\" does not exist\n2025-01-08 09:00:01.120 UTC [311] STATEMENT:  ALTER ROLE app WITH LOGIN PASSWORD '§';");
    "sql" "{p16}" Diff("+++ b/migrations/0031_reader.sql\n@@ -0,0 +1,2 @@\n+CREATE LOGIN reader WITH PASSWORD = N'§', CHECK_POLICY = OFF;\n+GO\n");
    "sql" "{A16}" Stream(Codex, 9, "Run `CREATE ROLE metrics LOGIN ENCRYPTED PASSWORD '§';` on the primary.");
    "pgpass" "{A18}" Tool("$ cat ~/.pgpass\ndb.example.org:5432:*:app:§\n");

    // Command lines.
    "command" "{A16}" Tool("root      2211  0.0  0.1 mysqldump --host=db1 --user=backup --password=§ --all-databases");
    "command" "{p14}" Tool(": 1733912345:0;sshpass -p '§' ssh admin@10.0.0.9 uptime");
    "command" "{A16}" Tool("$ PGPASSWORD=§ pg_dump -h db -U app app > app.sql");
    "command" "{A20}" Tool("keytool -genkeypair -alias upload -keystore up.jks -storepass § -keyalg RSA");
    "command" "{A18}" Tool("openssl pkcs12 -export -in c.pem -inkey k.pem -out c.p12 -passout pass:§");
    "command" "{A24}" Tool("$ redis-cli -h cache.internal -a § --no-auth-warning ping\nPONG");
    "command" "{p16}" Tool("PS> $cred = ConvertTo-SecureString \"§\" -AsPlainText -Force");
    "command" "{A32}" Tool("PS C:\\> $env:SERVICE_API_KEY = '§'\nPS C:\\> .\\run.ps1");
    "command" "{A32}" Tool("C:\\ci>setx DEPLOY_TOKEN \"§\" /M\n\nSUCCESS: Specified value was saved.");
    "command" "{A16}" Tool("kubectl create secret generic db --from-literal=username=app --from-literal=password=§");
    "command" "{A20}" Tool("helm upgrade web ./chart --set postgresql.auth.password=§,replicas=3");
    "command" "{p14}" Stream(Claude, 4, "mysql -u root --password='§' -e 'show tables' shop");
    "basic auth" "{A18}" Tool("$ curl -u admin:§ https://jenkins.example.org/job/web/build");
    "basic auth" "{b36}" Tool("> GET /v2/_catalog HTTP/1.1\r\n> Host: registry.example.org\r\n> Authorization: Basic §\r\n> User-Agent: curl/8.5.0\r\n");
    "basic auth" "{b40}=" Tool("{'User-Agent': 'python-requests/2.31.0', 'Accept': '*/*', 'Authorization': 'Basic §'}");
    "basic auth" "{A16}" Error("wget: https://build:§@files.example.org/sdk.tgz: 401 Unauthorized");
    "basic auth" "{b32}" Stream(Acp, 7, "Proxy-Authorization: Basic §\nConnection: keep-alive");
    "proxy" "{A14}" Tool("HTTPS_PROXY=http://svc-build:§@proxy.corp.example:3128 apt-get update");
    "bearer" "{w48}" Tool("headers: { Authorization: `Bearer §`, 'Content-Type': 'application/json' }");
    "bearer" "{x64}" Tool("req.Header.Set(\"Authorization\", \"Bearer §\")");
    "bearer" "{w40}" Error("thread 'main' panicked at src/client.rs:40:9:\nRequest { method: GET, headers: {\"authorization\": \"Bearer §\", \"accept\": \"*/*\"} }");
    "bearer" "{w52}" Stream(OpenCode, 2, "-H \"authorization: bearer §\" \\\n  https://api.example.org/v2/me");
    "api key header" "{A40}" Tool("* Connected to api.example.org\n> x-api-key: §\n> accept: */*");
    "api key url" "{x32}" Tool("10.0.0.4 - - [12/Jan/2025:11:02:41 +0000] \"GET /v1/search?q=shoes&api_key=§&page=2 HTTP/1.1\" 200 5123");

    // Web sessions and tokens.
    "jwt" "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ{w90}.{w43}" Tool("jsonwebtoken.js:61 JsonWebTokenError: invalid signature for §");
    "jwt" "eyJhbGciOiJSUzI1NiIsImtpZCI6Ijk4In0.eyJ{w160}.{w342}" Tool("users:\n- name: admin\n  user:\n    token: §\n");
    "jwt" "eyJhbGciOiJFUzI1NiJ9.eyJ{w70}.{w86}" Stream(Claude, 17, "Open https://app.example.org/invite?t=§&lang=en to see it.");
    "jwt" "eyJhbGciOiJIUzI1NiJ9.eyJ{w60}.{w43}" FileName("/tmp/dump/§.txt");
    "cookie" "{A32}" Tool("< HTTP/1.1 200 OK\n< Set-Cookie: JSESSIONID=§; Path=/; HttpOnly; Secure");
    "cookie" "s%3A{w32}.{A43}" Tool("curl 'https://app.example.org/api/me' -H 'cookie: theme=dark; connect.sid=§' --compressed");
    "cookie" "{A120}" Tool("Cookie: locale=de; sessionid=§; csrftoken=none");
    "cookie" "{A64}" Stream(Codex, 10, "Cookie: _ga=GA1.2.3; session_token=§; tz=UTC");
    "oauth" "{w64}" Tool("{\"token_type\":\"Bearer\",\"expires_in\":3599,\"scope\":\"openid\",\"refresh_token\":\"§\"}");
    "oauth" "{A40}" Tool("POST /oauth/token HTTP/1.1\n\ngrant_type=client_credentials&client_id=web&client_secret=§&scope=read");
    "oauth" "{w43}" Error("oauthlib: Token(access_token='§', token_type='Bearer', expires_in=3600)");
    "otp" "{U32}" Tool("otpauth://totp/Acme:mira@example.org?secret=§&issuer=Acme&digits=6");

    // Key blocks.
    "private key" "-----BEGIN OPENSSH PRIVATE KEY-----\n{P}-----END OPENSSH PRIVATE KEY-----" Tool("$ cat ~/.ssh/id_ed25519\n§\n$ ");
    "private key" "+-----BEGIN RSA PRIVATE KEY-----\n+{b64}\n+{b64}\n+{b64}\n+{b22}==\n+-----END RSA PRIVATE KEY-----" Diff("diff --git a/certs/dev.key b/certs/dev.key\nnew file mode 100644\n--- /dev/null\n+++ b/certs/dev.key\n@@ -0,0 +1,6 @@\n§\n");
    "private key" "     1\t-----BEGIN EC PRIVATE KEY-----\n     2\t{b64}\n     3\t{b64}\n     4\t{b36}==\n     5\t-----END EC PRIVATE KEY-----" Tool("§\n     6\t\n");
    "private key" "    -----BEGIN PRIVATE KEY-----\n    {b64}\n    {b64}\n    {b64}\n    -----END PRIVATE KEY-----" Tool("apiVersion: v1\nkind: Secret\nstringData:\n  tls.key: |\n§\n");
    "private key" "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n{P}-----END RSA PRIVATE KEY-----" Tool("§");
    "private key" "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{P}=abcd\n-----END PGP PRIVATE KEY BLOCK-----" Tool("$ gpg --armor --export-secret-keys ops\n§");
    "private key" "-----BEGIN OPENSSH PRIVATE KEY-----\n{b70}\n{b70}\n{b70}" Tool("$ head -4 deploy_key\n§\n");
    "private key" "-----BEGIN PRIVATE KEY-----\n{P}-----END PRIVATE KEY-----" Stream(Claude, 20, "The key file AuthKey.p8 says:\n\n```\n§\n```\nIt must not be in the repository.");
    "private key" "-----BEGIN RSA PRIVATE KEY-----\\n{b64}\\n{b64}\\n{b64}\\n-----END RSA PRIVATE KEY-----\\n" Stream(ClaudeTool, 15, r#"{"file_path":"/srv/k.pem","content":"§"}"#);
    "private key" "{b43}=" Tool("[Interface]\nAddress = 10.8.0.2/32\nPrivateKey = §\nDNS = 1.1.1.1");
    "private key" "0x{x64}" Diff("--- a/hardhat.config.js\n+++ b/hardhat.config.js\n-      accounts: [],\n+      privateKey: \"§\",\n");
    "putty key" "{b64}\n{b64}\n{b40}==" Tool("PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: ops\nPrivate-Lines: 3\n§\nPrivate-MAC: 00");

    // Clusters and machines.
    "kubernetes" "{b32}" Tool("apiVersion: v1\ndata:\n  POSTGRES_PASSWORD: §\nkind: Secret\nmetadata:\n  name: db\n  namespace: prod");
    "kubernetes" "{b400}==" Tool("    client-certificate-data: REDACTED\n    client-key-data: §\n");
    "kubernetes" "{a6}.{a16}" Tool("kubeadm join 10.0.0.1:6443 --token § --discovery-token-ca-cert-hash sha256:…");
    "kubernetes" "{A24}" Diff("@@ -31,6 +31,8 @@ spec:\n           env:\n             - name: LOG\n               value: debug\n+            - name: REDIS_PASSWORD\n+              value: \"§\"\n");
    "swarm" "SWMTKN-1-{a50}-{a25}" Tool("    docker swarm join --token § 192.168.65.3:2377");
    "docker env" "{A20}" Tool("            \"Env\": [\n                \"MYSQL_ROOT_PASSWORD=§\",\n                \"PATH=/usr/local/sbin:/usr/bin\"\n            ],");
    "docker env" "{A28}" Tool("PATH=/usr/bin\0ADMIN_TOKEN=§\0HOME=/root\0");
    "ansible" "{p14}" Tool("web1 ansible_host=10.1.1.4 ansible_user=deploy ansible_become_pass=§");
    "wifi" "{p14}" Tool("network={\n    ssid=\"office\"\n    psk=\"§\"\n}");

    // Settings and source.
    "assigned" "{p16}" Tool("DB_HOST=db1\nDB_PASSWORD=§\nDB_NAME=shop");
    "assigned" "{x128}" Tool("production:\n  secret_key_base: §\n");
    "assigned" "base64:{b43}=" Tool("APP_ENV=production\nAPP_KEY=§\nAPP_DEBUG=true");
    "assigned" "{p50}" Diff("-SECRET_KEY = os.environ['SECRET_KEY']\n+SECRET_KEY = 'django-insecure-§'\n");
    "assigned" "{p64}" Tool("define( 'SECURE_AUTH_KEY',  '§' );");
    "assigned" "{A24}" Tool("    private static final String API_SECRET = \"§\";");
    "assigned" "{p14}" Tool("storeFile=../upload.jks\nstorePassword=§\nkeyAlias=upload");
    "assigned" "{A22}" Tool("DEBUG config: Config { host: \"db\", user: \"app\", password: Some(\"§\"), retries: 3 }");
    "assigned" "{p15}" Error("KeyError: 'region'\n  locals: {'user': 'svc', 'passwd': '§', 'verify': True}");
    "assigned" "{A24}" Tool("level=info ts=2025-01-09T07:00:00Z caller=main.go:77 msg=\"loaded\" cfg=\"{User:svc Password:§ Port:8080}\"");
    "assigned" "{A20}" Tool("| Variable | Value |\n|---|---|\n| SMTP_HOST | mx.example.org |\n| SMTP_PASSWORD | `§` |");
    "assigned" "{a8} {a8} {a8} {a8}" Tool("borg:\n  repository: ssh://b@h/./r\n  encryption_passphrase: \"§\"\n");
    "assigned" "{A9}\\\"{A9}" Tool("let client_secret = \"§\";");
    "assigned" "{A30}" Tool("{\n  \"password\":\n    \"§\"\n}");
    "assigned" "{w43}" Tool("\u{1b}[36mNEXTAUTH_SECRET\u{1b}[0m=\u{1b}[32m\"§\"\u{1b}[0m");
    "assigned" "{A16}" Goal("Log into the staging box (user: deploy, password: §) and restart nginx");
    "assigned" "{A32}" Goal("here's the api key: § — wire it into config.toml");
    "assigned" "{p16}" Goal("db creds\nuser = reporting\npwd = §\nplease write the export script");
    "assigned" "{A24}" FileName("backups/db_password=§.sql.gz");
    "assigned" "{A32}" Tool("ci\\settings.ini:12:auth_token : §");
    "assigned" "{A28}" Tool("<property name=\"hibernate.connection.password\">§</property>");
    "assigned" "{A18}" Tool("       │ File: prod.toml\n   1   │ [smtp]\n   2   │ user = \"mailer\"\n   3   │ pass = \"§\"");
    "assigned" "{w36}" Stream(Acp, 6, "jwt:\n  secret: '§'\n  ttl: 3600\n");
    "assigned" "{p18}" Stream(OpenCode, 3, "I set ADMIN_PASSWORD=§ in docker-compose.yml for now.");
    "assigned" "{A32}" Stream(ClaudeTool, 8, r#"{"old_string":"encryption_key: \"\"","new_string":"encryption_key: \"§\""}"#);
    "assigned" "{A26}" Stream(Codex, 5, "```js\nconst config = {\n  clientSecret: '§',\n};\n```");
};
