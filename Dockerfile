# The image of voicescreen: the program, the certificates of public authorities and two
# empty directories. It has no shell and no package manager.
#
#   docker build -t voicescreen .
#   docker run -p 127.0.0.1:8080:8080 voicescreen serve --dev
#
# "deploy/README.md" shows how to run it with PostgreSQL.

FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -ldflags=-s -o /image/voicescreen ./cmd/voicescreen \
 && mkdir -p /image/data /image/tmp /image/etc/ssl/certs \
 && cp /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/ \
 && chown 65532:65532 /image/data /image/tmp

FROM scratch
ARG REVISION=unknown
LABEL org.opencontainers.image.title="voicescreen" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.revision="$REVISION"
COPY --from=build /image /
# A number, so that Kubernetes can see that it is not root.
USER 65532:65532
WORKDIR /data
# In a container the loopback interface is its own: listen on all. Put a proxy with TLS
# before it.
ENV VOICESCREEN_ADDR=:8080
EXPOSE 8080
# Databases and key files of a single node. Uploads whose fields stand in an unusual
# order are kept in /tmp until they are complete.
VOLUME /data
HEALTHCHECK --interval=10s --timeout=6s --start-period=60s --retries=3 \
  CMD ["/voicescreen", "health", "http://127.0.0.1:8080/healthz"]
ENTRYPOINT ["/voicescreen"]
CMD ["serve", "--help"]
