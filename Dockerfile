# segue with git, Node and npm, so that agents can be added:
#   docker build -t segue .
#   docker run --rm -it -v "$PWD:/work" segue demo
# Your agent: FROM segue, then RUN npm install --global @anthropic-ai/claude-code
FROM rust:1-bookworm AS build
WORKDIR /source
COPY . .
RUN cargo build --release --locked --package segue

FROM node:22-bookworm-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && git config --system --add safe.directory /work
COPY --from=build /source/target/release/segue /usr/local/bin/segue
USER node
WORKDIR /work
ENTRYPOINT ["segue"]
