# Builds the Debian package, and an image that runs the daemon with its state in /var/lib/clusterd:
#   docker build -t clusterd .        with podman or buildah: --format docker, since OCI images have no HEALTHCHECK
#   docker run -d --name clusterd -v clusterd-state:/var/lib/clusterd -v clusterd-socket:/run/clusterd clusterd
#   docker exec -i clusterd clusterctl import cities - < Examples/cities.geojson
#   docker exec clusterd clusterctl clusters cities
#   docker stop clusterd && docker start clusterd        the sources are still there
FROM swift:6.3-bookworm AS build
WORKDIR /source
COPY scripts/install-dependencies scripts/
RUN apt-get update \
    && scripts/install-dependencies
COPY . .
ENV DEBMAINTAINER="The clusterd authors <clusterd@localhost>"
RUN scripts/package-deb /packages

FROM debian:bookworm-slim
COPY --from=build /packages /tmp/packages
RUN apt-get update \
    && apt-get install -y --no-install-recommends systemd-standalone-sysusers /tmp/packages/clusterd_*.deb \
    && rm -rf /var/lib/apt/lists/* /tmp/packages \
    && systemd-sysusers \
    && install -d -o clusterd -g clusterd -m 0755 /run/clusterd \
    && install -d -o clusterd -g clusterd -m 0700 /var/lib/clusterd
USER clusterd
ENV CLUSTERD_SOCKET=/run/clusterd/clusterd.sock
VOLUME ["/var/lib/clusterd", "/run/clusterd"]
HEALTHCHECK --interval=10s --timeout=3s CMD ["clusterctl", "health"]
ENTRYPOINT ["clusterd"]
CMD ["--state-dir", "/var/lib/clusterd"]
