# SPDX-License-Identifier: MIT
# Builds and installs clusterd without a Swift runtime on the target: make && make install [DESTDIR=…] [prefix=…]
prefix = /usr/local
bindir = $(prefix)/bin
datadir = $(prefix)/share
mandir = $(datadir)/man
docdir = $(datadir)/doc/clusterd
# The map page, the client libraries and the protocol's pages, which they refer to.
sharedir = $(datadir)/clusterd
unitdir = $(prefix)/lib/systemd/system
userunitdir = $(prefix)/lib/systemd/user
zshdir = $(datadir)/zsh/site-functions
sysusersdir = $(prefix)/lib/sysusers.d
# A separate folder, so that the builds of a package and of a developer do not overwrite each other.
scratch = .build/package
products = $(scratch)/release
texts = $(scratch)/texts
INSTALL = install
# The programs are the same wherever they are built, and name no path of the building machine. What the loader has written is
# read-only afterwards.
build = swift build -c release --static-swift-stdlib --scratch-path $(scratch) -debug-info-format none \
	-Xswiftc -file-prefix-map -Xswiftc "$(CURDIR)=." -Xcc "-ffile-prefix-map=$(CURDIR)=." -Xcxx "-ffile-prefix-map=$(CURDIR)=." \
	-Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now -Xlinker --build-id=none -Xlinker --no-export-dynamic

.PHONY: all build texts install install-feed uninstall uninstall-feed clean
all: texts

build:
	$(build) --product clusterd
	$(build) --product clusterctl
	$(build) --product clusterd-feed

# Manuals and completions are generated from the programs' own tables.
texts: build
	mkdir -p $(texts)
	$(products)/clusterd --print manual > $(texts)/clusterd.8
	$(products)/clusterd --print configuration-manual > $(texts)/clusterd.json.5
	$(products)/clusterctl manual > $(texts)/clusterctl.1
	$(products)/clusterd-feed --print manual > $(texts)/clusterd-feed.8
	@for shell in bash zsh fish; do \
		$(products)/clusterd --print $$shell > $(texts)/clusterd.$$shell && \
		$(products)/clusterd-feed --print $$shell > $(texts)/clusterd-feed.$$shell && \
		$(products)/clusterctl completion $$shell > $(texts)/clusterctl.$$shell || exit 1; \
	done

# Installs what make has built, and compiles nothing, since root often runs it.
install:
	@test -f $(texts)/clusterctl.fish || { echo "make: nothing is built yet: run make without root first" >&2; exit 1; }
	$(INSTALL) -d $(DESTDIR)$(bindir) $(DESTDIR)$(mandir)/man1 $(DESTDIR)$(mandir)/man5 $(DESTDIR)$(mandir)/man8
	$(INSTALL) -m 755 $(products)/clusterd $(products)/clusterctl $(DESTDIR)$(bindir)
	$(INSTALL) -m 644 $(texts)/clusterctl.1 $(DESTDIR)$(mandir)/man1
	$(INSTALL) -m 644 $(texts)/clusterd.json.5 $(DESTDIR)$(mandir)/man5
	$(INSTALL) -m 644 $(texts)/clusterd.8 $(DESTDIR)$(mandir)/man8
	@for program in clusterd clusterctl; do \
		$(INSTALL) -D -m 644 $(texts)/$$program.bash $(DESTDIR)$(datadir)/bash-completion/completions/$$program && \
		$(INSTALL) -D -m 644 $(texts)/$$program.zsh $(DESTDIR)$(zshdir)/_$$program && \
		$(INSTALL) -D -m 644 $(texts)/$$program.fish $(DESTDIR)$(datadir)/fish/vendor_completions.d/$$program.fish || exit 1; \
	done
	$(INSTALL) -d $(DESTDIR)$(unitdir) $(DESTDIR)$(userunitdir) $(DESTDIR)$(sysusersdir) $(DESTDIR)$(docdir)
	@find -L web Examples/cities.geojson -type f | sort | while read -r file; do \
		target=$$(echo "$$file" | sed 's|^Examples/|sample/|'); \
		$(INSTALL) -D -m 644 "$$file" "$(DESTDIR)$(sharedir)/$$target" || exit 1; done
	sed 's|/usr/bin/|$(bindir)/|' systemd/clusterd.service > $(DESTDIR)$(unitdir)/clusterd.service
	sed 's|/usr/bin/|$(bindir)/|' systemd/user/clusterd.service > $(DESTDIR)$(userunitdir)/clusterd.service
	chmod 644 $(DESTDIR)$(unitdir)/clusterd.service $(DESTDIR)$(userunitdir)/clusterd.service
	$(INSTALL) -m 644 systemd/clusterd.socket systemd/clusterd-http.socket $(DESTDIR)$(unitdir)
	$(INSTALL) -m 644 systemd/user/clusterd.socket systemd/user/clusterd-http.socket $(DESTDIR)$(userunitdir)
	$(INSTALL) -m 644 systemd/clusterd.sysusers $(DESTDIR)$(sysusersdir)/clusterd.conf
	$(INSTALL) -m 644 README.md systemd/clusterd.json proto-docs/clusterd.schema.json $(DESTDIR)$(docdir)
	@find clients proto proto-docs -type f ! -path '*/__pycache__/*' ! -path '*/tests/*' ! -name '*_test.go' ! -name '*.binpb' | sort | \
	while read -r file; do $(INSTALL) -D -m 644 "$$file" "$(DESTDIR)$(sharedir)/$$file" || exit 1; done
	ln -sfn ../../clusterd/proto-docs $(DESTDIR)$(docdir)/proto-docs

# The program that carries messages of brokers into a source. It needs the brokers' libraries, so it is apart.
install-feed:
	@test -f $(texts)/clusterd-feed.fish || { echo "make: nothing is built yet: run make without root first" >&2; exit 1; }
	$(INSTALL) -D -m 755 $(products)/clusterd-feed $(DESTDIR)$(bindir)/clusterd-feed
	$(INSTALL) -D -m 644 $(texts)/clusterd-feed.8 $(DESTDIR)$(mandir)/man8/clusterd-feed.8
	$(INSTALL) -D -m 644 $(texts)/clusterd-feed.bash $(DESTDIR)$(datadir)/bash-completion/completions/clusterd-feed
	$(INSTALL) -D -m 644 $(texts)/clusterd-feed.zsh $(DESTDIR)$(zshdir)/_clusterd-feed
	$(INSTALL) -D -m 644 $(texts)/clusterd-feed.fish $(DESTDIR)$(datadir)/fish/vendor_completions.d/clusterd-feed.fish
	$(INSTALL) -d $(DESTDIR)$(unitdir)
	sed 's|/usr/bin/|$(bindir)/|' systemd/clusterd-feed@.service > $(DESTDIR)$(unitdir)/clusterd-feed@.service
	chmod 644 $(DESTDIR)$(unitdir)/clusterd-feed@.service

uninstall-feed:
	rm -f $(DESTDIR)$(bindir)/clusterd-feed $(DESTDIR)$(mandir)/man8/clusterd-feed.8 \
		$(DESTDIR)$(datadir)/bash-completion/completions/clusterd-feed $(DESTDIR)$(zshdir)/_clusterd-feed \
		$(DESTDIR)$(datadir)/fish/vendor_completions.d/clusterd-feed.fish $(DESTDIR)$(unitdir)/clusterd-feed@.service

uninstall:
	rm -f $(DESTDIR)$(bindir)/clusterd $(DESTDIR)$(bindir)/clusterctl $(DESTDIR)$(mandir)/man1/clusterctl.1 \
		$(DESTDIR)$(mandir)/man5/clusterd.json.5 $(DESTDIR)$(mandir)/man8/clusterd.8 \
		$(DESTDIR)$(datadir)/bash-completion/completions/clusterd $(DESTDIR)$(datadir)/bash-completion/completions/clusterctl \
		$(DESTDIR)$(zshdir)/_clusterd $(DESTDIR)$(zshdir)/_clusterctl \
		$(DESTDIR)$(datadir)/fish/vendor_completions.d/clusterd.fish $(DESTDIR)$(datadir)/fish/vendor_completions.d/clusterctl.fish \
		$(DESTDIR)$(unitdir)/clusterd.service $(DESTDIR)$(unitdir)/clusterd.socket \
		$(DESTDIR)$(unitdir)/clusterd-http.socket $(DESTDIR)$(userunitdir)/clusterd-http.socket \
		$(DESTDIR)$(userunitdir)/clusterd.service $(DESTDIR)$(userunitdir)/clusterd.socket \
		$(DESTDIR)$(sysusersdir)/clusterd.conf
	rm -rf $(DESTDIR)$(docdir) $(DESTDIR)$(sharedir)

clean:
	rm -rf $(scratch)
