# An image with the command `lozenge` and the C compiler that it needs.
#
#   docker build -t lozenge .
#   docker run --rm -v "$PWD:/work" lozenge compile kernel.c -o kernel.omp.c
FROM rust:1-slim-bookworm AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends gcc libc6-dev libisl-dev libgmp-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN cargo build --release --locked --package lozenge

# isl and gmp are inside the program; what it prints is compiled by gcc with OpenMP.
FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /source/target/release/lozenge /usr/local/bin/lozenge
WORKDIR /work
ENTRYPOINT ["lozenge"]
